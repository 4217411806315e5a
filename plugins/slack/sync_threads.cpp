// Replies of the threads that are marked as pending.
#include <limits>

#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {

/// Whether there is a thread to fetch; it is then in step.thread.
bool Sync::next_thread(Step& step) {
  if (!step.thread.id.empty()) return true;
  kruxos::Query query;
  query.collection = kMessages;
  query.where = kruxos::field_eq("replies_pending", std::int64_t{1});
  query.limit = static_cast<std::uint32_t>(failed_threads_.size()) + 1;
  query.count_limit = 1;
  step.store.reader().query(query, [&](const kruxos::Row& row) {
    if (failed_threads_.contains(std::string(row.id))) return true;
    step.thread.id = row.id;
    return false;
  });
  if (step.thread.id.empty()) return false;
  step.thread.page.clear();
  return true;
}

void Sync::thread_page(Step& step) {
  const auto id = parse_message_id(step.thread.id);
  if (!id) throw kruxos::ProxyError(kruxos::ErrorKind::kInternal, "A thread has the id " + step.thread.id + ".");
  auto& thread = step.thread;
  if (thread.page.empty()) {
    thread.generation = step.pass.next_generation++;
    thread.began_ms = step.now_ms();
  }
  Params params{{"channel", id->channel}, {"ts", id->ts}, {"limit", std::to_string(options_.page_size)}};
  if (!thread.page.empty()) params.emplace_back("cursor", thread.page);
  try {
    return thread_answer(step, *id, ask(step, "conversations.replies", params));
  } catch (const SlackError& error) {
    const bool expired = error.name() == "invalid_cursor" && !thread.page.empty();
    const bool gone = error.name() == "thread_not_found" || error.name() == "message_not_found";
    if (!expired && !gone) throw;
    if (gone) forget_thread(step);
    leave_thread(step);  // one whose cursor has expired is still pending, and begins anew
  }
}

void Sync::thread_answer(Step& step, const MessageId& id, const Answer& answer) {
  auto& thread = step.thread;
  const auto paging = paging_of(answer, thread.page);
  const auto& messages = items_of(answer, "messages", "thread " + thread.id);
  std::optional<Message> parent;
  for (const auto& json : messages.GetArray()) {
    auto message = message_from_slack(json, id.channel);
    if (message) learn(step, *message);
    if (message && message->ts == id.ts) {
      parent = message;
    } else {
      step.store.put(message ? message_record(*message, thread.generation)
                             : timeless_record(json, thread.id, thread.generation, 0));
    }
  }
  thread.page = paging.cursor;
  if (!thread.page.empty()) {
    thread.save(step.store);
    return commit(step);
  }
  if (messages.Empty()) {
    forget_thread(step);
  } else {
    if (paging.whole()) {
      step.store.sweep(kMessages, thread.id, thread.generation, std::numeric_limits<std::int64_t>::min(),
                       thread.began_ms + skew_ms_);
    }
    settle_parent(step, std::move(parent));
  }
  step.store.report_ok("threads of " + id.channel);
  leave_thread(step);
}

/// The thread's first message is no longer pending.
void Sync::settle_parent(Step& step, std::optional<Message> parent) {
  if (!parent) {  // later pages of a long thread do not repeat it
    const auto json = step.store.reader().get(kMessages, step.thread.id);
    parent = json ? message_from_record(*json) : std::nullopt;
  }
  if (!parent) return;
  parent->replies_pending = false;
  parent->thread_active = parent->has_replies() && recent(step, parent->latest_reply);
  step.store.put(message_record(*parent, step.thread.generation));
}

void Sync::forget_thread(Step& step) {
  step.store.erase(kMessages, step.thread.id);
  step.store.sweep(kMessages, step.thread.id, step.pass.next_generation++);
}

void Sync::leave_thread(Step& step) {
  step.thread = {};
  step.thread.save(step.store);
  commit(step);
}

}  // namespace slack
