#include "host/certify/sync_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kMostSteps = 2'000;
constexpr std::uint32_t kPage = 200;
constexpr int kMostPasses = 12;
constexpr std::int64_t kAfterFailureMs = 5'000;

std::string content_of(std::int64_t order_ms, std::string_view json) {
  return fmt::format("{} {}", order_ms,
                     canonical_json(parse_json(json, "a record", {2 << 20, 64, OddText::kReplaced})));
}

/// The real session, watched, and ended behind a certain commit as a kill would end it.
class WatchedSession final : public SyncSession {
 public:
  WatchedSession(Lab& lab, std::shared_ptr<SyncSession> inner, std::size_t kill_after,
                 std::shared_ptr<OfferedRecords> offered)
      : lab_(lab), inner_(std::move(inner)), kill_after_(kill_after), offered_(std::move(offered)) {}

  std::string put(Record record) override {
    lab_.watch(record.json, "a synced record");
    lab_.watch(record.text, "a synced record");
    for (const auto& tag : record.tags) lab_.watch(tag, "a synced record's tag");
    for (const auto& [name, value] : record.texts) lab_.watch(value, "a synced record's named text");
    const auto key = fmt::format("{}/{}", record.collection, record.id);
    const auto order_ms = record.order_ms;
    auto json = record.json;
    auto text = record.text;
    auto why = inner_->put(std::move(record));
    offered_->rows[key].insert(content_of(order_ms, json));
    if (!text.empty()) offered_->searched.insert(std::move(text));
    return why;
  }
  void leave_out(Record record, std::string_view why) override { inner_->leave_out(std::move(record), why); }
  void keep_text(std::string_view collection, std::string_view id, std::string_view text) override {
    lab_.watch(text, "a text that its sync keeps");
    inner_->keep_text(collection, id, text);
  }
  void erase(std::string_view collection, std::string_view id) override { inner_->erase(collection, id); }
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms) override {
    inner_->sweep(collection, scope, generation, from_ms, to_ms);
  }
  void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                const std::function<std::int64_t(char*, std::size_t)>& source) override {
    inner_->put_blob(collection, id, name, total, source);
  }
  void erase_blob(std::string_view collection, std::string_view id, std::string_view name) override {
    inner_->erase_blob(collection, id, name);
  }
  std::optional<std::string> cursor(std::string_view key) override { return inner_->cursor(key); }
  void set_cursor(std::string_view key, std::string_view value) override {
    lab_.watch(value, "a cursor");
    inner_->set_cursor(key, value);
  }
  void commit() override {
    inner_->commit();
    if (++commits != kill_after_) return;
    killed = true;
    inner_->close();
    if (call) call->cancel();
  }
  void report(std::string_view part, krux_status status, std::string_view message) override {
    lab_.watch(message, "a report of its sync");
    inner_->report(part, status, message);
  }
  const std::shared_ptr<ReplicaReader>& reader() override { return inner_->reader(); }
  RecordChanges changes() const override { return inner_->changes(); }
  void close() override { inner_->close(); }

  CallContextPtr call;
  std::atomic<std::size_t> commits{0};
  std::atomic<bool> killed{false};

 private:
  Lab& lab_;
  const std::shared_ptr<SyncSession> inner_;
  const std::size_t kill_after_;
  const std::shared_ptr<OfferedRecords> offered_;
};

std::string some(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) out += (i > 0 ? ", " : "") + printable(names[i]);
  return out + (names.size() > 3 ? ", ..." : "");
}

}  // namespace

std::string difference(const ReplicaRows& expected, const ReplicaRows& actual) {
  std::vector<std::string> missing, added, changed;
  for (const auto& [key, content] : expected) {
    const auto at = actual.find(key);
    if (at == actual.end()) {
      missing.push_back(key);
    } else if (at->second != content) {
      changed.push_back(key);
    }
  }
  for (const auto& [key, content] : actual) {
    if (!expected.contains(key)) added.push_back(key);
  }
  std::string out;
  if (!missing.empty()) out += fmt::format("{} rows are missing ({})", missing.size(), some(missing));
  if (!added.empty())
    out += fmt::format("{}{} rows are too many ({})", out.empty() ? "" : ", ", added.size(), some(added));
  if (changed.empty()) return out;
  out += fmt::format("{}{} rows differ ({})", out.empty() ? "" : ", ", changed.size(), some(changed));
  return out;
}

std::optional<CallResult<SyncStep>> SyncTrial::step(std::size_t kill_after, std::size_t& commits) {
  const auto state = store_->state();
  const auto session = std::make_shared<WatchedSession>(lab_, store_->begin_session(), kill_after, offered_);
  CallOptions options;
  options.made = [session](const CallContextPtr& call) { session->call = call; };
  const auto answer = lab_.call<SyncStep>("the sync", options, [state, session, adapter = adapter_](const auto& call) {
    return state.full_done ? adapter->ask<"incremental_sync">(call, session, state.last_sync_ms)
                           : adapter->ask<"full_sync">(call, session);
  });
  session->close();
  session->call.reset();
  commits += session->commits;
  if (session->killed) return std::nullopt;
  return answer.result;
}

PassEnd SyncTrial::pass(std::size_t kill_after) {
  PassEnd end;
  const auto began_ms = lab_.clock().wall_ms();
  const bool full = !store_->state().full_done;
  std::size_t commits = 0;
  while (++end.steps <= kMostSteps) {
    const auto before = commits;
    const auto taken = step(kill_after == 0 ? 0 : kill_after - commits, commits);
    commits_ += commits - before;
    end.problems = store_->problems().size();
    if (!taken) {
      end.how = PassEnd::How::kKilled;
      return end;
    }
    const auto& result = *taken;
    if (const auto* failure = std::get_if<CallFailure>(&result)) {
      if (failure->status == KRUX_CURSOR_EXPIRED && !end.cursor_expired) {
        end.cursor_expired = true;
        store_->require_full_sync();
        continue;
      }
      end.how = PassEnd::How::kFailed;
      end.failure = *failure;
      return end;
    }
    const auto& step = std::get<SyncStep>(result);
    if (step.next == SyncStep::Next::kWait) lab_.clock().advance(std::clamp<std::int64_t>(step.wait_ms, 1, 3'600'000));
    if (step.next != SyncStep::Next::kDone) continue;
    const auto through = step.complete_through_ms > 0 ? step.complete_through_ms : began_ms;
    store_->finish_pass(full || end.cursor_expired, through);
    return end;
  }
  throw CheckFailed(fmt::format("The sync was not done after {} steps.", kMostSteps),
                    "Each step must advance a cursor; return SyncStep::done() when the pass is complete.");
}

void SyncTrial::settle() {
  std::string last;
  for (int i = 0; i < kMostPasses; ++i) {
    const auto end = pass();
    const auto left_out = store_->left_out(1);
    if (end.how == PassEnd::How::kDone && end.problems == 0 && left_out.empty()) return;
    if (end.how != PassEnd::How::kDone) {
      last = in_words(end.failure);
    } else if (end.problems > 0) {
      last = fmt::format("{} parts still fail: {}", end.problems, store_->problems().front().message);
    } else {
      last = fmt::format("{} records are left out, {} \"{}\" the last, since the replica cannot take them: {}",
                         store_->state().left_out, left_out.front().collection, left_out.front().id,
                         left_out.front().reason);
    }
    const auto wait = end.failure.retry_after_ms.value_or(0);
    lab_.clock().advance(
        std::max({wait, kAfterFailureMs,
                  end.how == PassEnd::How::kDone ? lab_.definition().sync_interval_ms : std::int64_t{0}}));
  }
  throw CheckFailed(
      fmt::format("The sync did not come to its end in {} passes; the last one said {}", kMostPasses, last));
}

ReplicaRows SyncTrial::rows() const {
  ReplicaRows rows;
  const auto reader = store_->reader();
  for (const auto& [collection, count] : store_->counts()) {
    for (std::uint32_t offset = 0; offset < static_cast<std::uint64_t>(count); offset += kPage) {
      Query query;
      query.collection = collection;
      query.limit = kPage;
      query.offset = offset;
      reader->query(query, [&, &name = collection](const RowView& row) {
        rows[fmt::format("{}/{}", name, row.id)] = content_of(row.order_ms, row.json);
        return true;
      });
    }
  }
  return rows;
}

}  // namespace krux::certify
