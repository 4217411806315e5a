// Records that an earlier version has put: each is put once more as this version puts it. Slack is not asked, for it no
// longer shows all of them to a look, and none is lost.
#include <kruxos/kit/cursor.hpp>

#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {
namespace {

constexpr const char* kCursor = "carried";
// 2: texts as people see them, searched with links, emoji and accents of their own; order within a millisecond.
constexpr std::int64_t kForm = 2;
constexpr std::uint32_t kRowsAPage = 200, kMostOfOneTime = 10'000;

/// How far the messages are carried, oldest first.
struct Carried {
  std::int64_t form = 0;  ///< that all of them have
  std::int64_t ms = 0;    ///< those before it are done

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("form", self.form);
    visit("ms", self.ms);
  }
};

/// Messages in the order of their time.
struct Page {
  std::vector<std::pair<std::int64_t, Message>> messages;
  bool is_last = false;
  std::int64_t next_ms = 0;
};

/// Whole milliseconds: those of one change places among each other when they are put.
Page page_from(const kruxos::SyncStore& store, std::int64_t from_ms, std::uint32_t limit) {
  kruxos::Query query;
  query.collection = kMessages;
  query.descending = false;
  query.from_ms = from_ms;
  query.limit = limit;
  query.count_limit = 1;
  Page page;
  std::uint32_t rows = 0;
  std::int64_t first_ms = 0, last_ms = 0;
  const auto result = store.reader().query(query, [&](const kruxos::Row& row) {
    last_ms = row.order_ms;
    if (rows++ == 0) first_ms = last_ms;
    if (auto message = message_from_record(row.json)) page.messages.emplace_back(row.order_ms, std::move(*message));
    return true;
  });
  need_whole(result);
  page.is_last = rows < limit;
  page.next_ms = last_ms;
  if (page.is_last) return page;
  if (first_ms == last_ms && limit < kMostOfOneTime) return page_from(store, from_ms, kMostOfOneTime);
  if (first_ms == last_ms) {
    page.next_ms = last_ms + 1;
  } else {
    std::erase_if(page.messages, [&](const auto& one) { return one.first == last_ms; });
  }
  return page;
}

}  // namespace

void Sync::nothing_to_carry(kruxos::SyncStore& store) {
  all_are_carried_ = true;
  kruxos::kit::save_cursor(store, kCursor, Carried{kForm, 0});
}

bool Sync::is_to_carry(Step& step) {
  if (!all_are_carried_) all_are_carried_ = kruxos::kit::load_cursor<Carried>(step.store, kCursor).form >= kForm;
  return !*all_are_carried_;
}

void Sync::carry_page(Step& step) {
  const auto carried = kruxos::kit::load_cursor<Carried>(step.store, kCursor);
  auto page = page_from(step.store, carried.ms, kRowsAPage);
  const auto generation = step.pass.next_generation++;
  const auto reader = step.store.reader();
  for (auto& [at_ms, message] : page.messages) {
    message.thread_active = message.has_replies() && recent(step, message.latest_reply);
    message.thread_unknown = message.is_reply() && !reader.get(kMessages, message.thread_id());
    learn(step, message);
    step.store.put(message_record(message, generation));
  }
  if (page.is_last) {
    nothing_to_carry(step.store);
  } else {
    kruxos::kit::save_cursor(step.store, kCursor, Carried{0, page.next_ms});
  }
  commit(step);
}

}  // namespace slack
