// Messages fetched one by one, several at a time, and those that cannot be read.
#include <algorithm>
#include <span>

#include "sync.hpp"
#include "sync_step.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

// So many in a row without an answer: it is the service, not the message.
constexpr int kMostNoAnswers = 5;
constexpr int kMostSenseless = 3;
constexpr std::int64_t kLongestUncommittedMs = 1'000;
constexpr const char* kPart = "messages that cannot be read";

bool no_answer(const GmailError& error) {
  const bool answered = error.http_status() != 0 && error.http_status() < 500;
  return !answered && error.reason() != kMalformed && is_no_answer(error.kind());
}

/// Nothing that another message would not meet as well.
bool ends_the_step(const GmailError& error) {
  return error.kind() == ErrorKind::kRateLimited || error.kind() == ErrorKind::kAuth ||
         error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kStorage;
}

void put_blob(kruxos::SyncStore& store, const std::string& id, const char* name, std::string_view left) {
  store.put_blob(kMessages, id, name, static_cast<std::int64_t>(left.size()), [&left](char* buffer, std::size_t room) {
    const auto count = left.copy(buffer, room);
    left.remove_prefix(count);
    return static_cast<std::int64_t>(count);
  });
}

}  // namespace

/// False when the step's time is over before all are done: what was fetched is committed, and known the next time.
/// While the quota lets messages come one by one, each chunk is committed; where they come fast, a page of rows.
bool Sync::fetch(Step& step, const std::vector<std::string>& ids) {
  const auto size = static_cast<std::size_t>(std::max(1, options_.side_by_side));
  for (std::size_t from = 0; from < ids.size(); from += size) {
    if (step.budget.over() && from > 0) {
      commit(step);
      return false;
    }
    step.call.throw_if_cancelled();
    const std::span<const std::string> chunk(ids.data() + from, std::min(size, ids.size() - from));
    std::vector<std::string> urls;
    for (const auto& id : chunk) urls.push_back(message_url(id));
    step.budget.spend(static_cast<int>(chunk.size()));
    const auto fetched = api_.get_many(step.call, "messages.get", urls);
    const GmailError* ends = nullptr;
    const auto unreadable = step.unreadable;
    const auto take = [&](std::size_t i) {
      const auto& error = fetched[i].error;
      if (error && no_answer(*error)) ++no_answers_;
      if (!error) no_answers_ = 0;
      if (error && (ends_the_step(*error) || no_answers_ >= kMostNoAnswers)) {
        if (!ends) ends = &*error;
      } else {
        take_fetched(step, chunk[i], fetched[i]);
      }
    };
    try {
      for (std::size_t i = 0; i < chunk.size(); ++i) take(i);
    } catch (const kruxos::ProxyError&) {
      commit(step);  // what came before is whole
      throw;
    }
    // A whole chunk of answers that make no sense: it is not the messages.
    const bool all_are_new = std::all_of(
        chunk.begin(), chunk.end(), [&](const auto& id) { return !unreadable.has(id) && step.unreadable.has(id); });
    if (chunk.size() > 4 && all_are_new && is_service_to_blame(step)) {
      step.unreadable = unreadable;
      commit(step);
      throw malformed("messages.get");
    }
    const bool is_due = step.now_ms() - step.committed_ms >= kLongestUncommittedMs;
    if (ends || is_due || step.uncommitted >= kRowsACommit) commit(step);
    if (!ends) continue;
    no_answers_ = 0;
    throw GmailError(*ends);
  }
  return true;
}

/// A comparison may come upon many that it gave up before, and nothing but them: it must end all the same.
bool Sync::is_service_to_blame(Step& step) {
  const bool compares = step.state.compares && step.state.phase == Phase::kListing;
  return !compares || ++step.state.senseless <= kMostSenseless;
}

/// Throws what ends the step; the message is not taken then.
void Sync::take_fetched(Step& step, const std::string& id, const Fetched& fetched) {
  if (fetched.error && fetched.error->kind() == ErrorKind::kNotFound) {  // deleted meanwhile
    step.store.erase(kMessages, id);
    step.unreadable.forget(id);
    return;
  }
  if (fetched.error) return note_unreadable(step, id, fetched.error->what());
  auto message = message_from_gmail(fetched.body);
  if (!message || message->id != id) return note_unreadable(step, id, "Gmail's answer lacks its id or its date.");
  if (message->date_ms < step.state.since_ms) {
    // It may have counted as left out while nobody could read how old it is.
    if (!step.store.reader().get(kMessages, id)) step.store.erase(kMessages, id);
    step.unreadable.forget(id);
    return;
  }
  const auto body = options_.fetch_bodies ? body_for(step, id) : std::nullopt;
  if (body) {
    static_cast<MailHead&>(*message) = body->head;
    if (!body->snippet.empty()) message->snippet = body->snippet;
  } else if (has_doubtful_sender(fetched.body) && !take_head(step, *message)) {
    return;
  }
  put(step, *message);
  memberships_.fetched(id);
  step.unreadable.forget(id);
  if (!body) return;
  ObjectWriter head;
  write_head(body->head, head);
  put_blob(step.store, id, kHeadBlob, head.done());
  put_blob(step.store, id, kBodyBlob, body->json);
  step.store.keep_text(kMessages, id, body->text);
  step.uncommitted_bytes += body->json.size() + body->text.size();
  if (step.uncommitted_bytes >= kBytesACommit) commit(step);
}

/// Nothing where it cannot be had: it is fetched when somebody reads the message.
std::optional<Body> Sync::body_for(Step& step, const std::string& id) {
  step.budget.spend();
  try {
    return fetch_body(step.call, api_, id);
  } catch (const kruxos::ProxyError& error) {
    const bool ends = error.kind() == ErrorKind::kRateLimited || error.kind() == ErrorKind::kAuth ||
                      error.kind() == ErrorKind::kCancelled;
    if (ends) throw;
    return std::nullopt;
  }
}

/// Takes from the mail itself whom it names. False where it cannot be had; the message is noted then.
bool Sync::take_head(Step& step, Message& message) {
  step.budget.spend();
  try {
    static_cast<MailHead&>(message) = bounded(fetch_head(step.call, api_, message.id).content);
    return true;
  } catch (const GmailError& error) {
    if (ends_the_step(error)) throw;
    note_unreadable(step, message.id, error.what());
    return false;
  }
}

void Sync::note_unreadable(Step& step, const std::string& id, const std::string& why) {
  if (const auto given_up = step.unreadable.note(id, why, step.state.full_passes)) leave_out(step, *given_up);
}

/// Counts it as left out, so that nobody takes the replica for whole; what there is of it already stays.
void Sync::leave_out(Step& step, const Unreadable::Entry& entry) {
  if (step.store.reader().get(kMessages, entry.id)) return;
  kruxos::Record without_content;
  without_content.collection = kMessages;
  without_content.id = entry.id;
  without_content.scope = kUnreadableScope;
  without_content.generation = entry.full_pass;
  step.store.put(without_content);
}

/// Each once a pass, before the pass ends. False when the step's time is over.
bool Sync::retry_unreadable(Step& step) {
  if (step.unreadable.entries.empty()) return true;
  if (!retried_) {
    std::vector<std::string> ids;
    for (const auto& entry : step.unreadable.entries) {
      if (entry.tries < Unreadable::kMostTries) ids.push_back(entry.id);
    }
    retried_ = fetch(step, ids);
    if (retried_) commit(step);
  }
  return retried_;
}

/// What the pass ends without is left out.
void Sync::report_unreadable(Step& step) {
  const auto& entries = step.unreadable.entries;
  if (entries.empty()) return step.store.report_ok(kPart);
  for (const auto& entry : entries) leave_out(step, entry);
  const auto& first = entries.front();
  step.store.report_failure(kPart, ErrorKind::kUnavailable,
                            std::to_string(entries.size()) + " in all, for example " + first.id + ": " + first.why);
}

void Sync::put(Step& step, const Message& message) {
  step.store.put(message_record(message));
  note_labels(step, message.labels);
  ++step.uncommitted;
}

}  // namespace gmail
