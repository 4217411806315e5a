#include "host/runner/program/lent.hpp"

#include <algorithm>
#include <bit>
#include <condition_variable>

#include "core/util/error.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux::runner {
namespace {

WireWriter request_of(RequestKind kind) {
  WireWriter out;
  out.u8(static_cast<std::uint8_t>(kind));
  return out;
}

/// As the host's own code would have thrown it.
Error error_of(const WireAnswer& answer) {
  return {meaning_of(answer.status).thrown, answer.words, false, answer.retry_after_ms};
}

WireAnswer answer_in(const Frame& frame) {
  WireReader in(frame.payload);
  return get_answer(in);
}

/// False: it is not there.
bool found_in(const WireAnswer& answer) {
  if (answer.status == KRUX_OK) return true;
  if (answer.status == KRUX_NOT_FOUND) return false;
  throw error_of(answer);
}

bool each_row(std::string_view rows, const ReplicaReader::OnRow& on_row) {
  for (WireReader in(rows); !in.empty();) {
    if (!on_row(get_row(in))) return false;
  }
  return true;
}

/// Hands parts to `use` until it has enough; returns the answer, its tail handed over as well.
template <class Use>
WireAnswer take_parts(Request& request, Use&& use) {
  bool wanted = true;
  for (;;) {
    const auto frame = request.next();
    if (frame.kind == FrameKind::kAnswer) {
      auto answer = answer_in(frame);
      if (wanted && !answer.tail.empty()) use(answer.tail);
      return answer;
    }
    const bool before = wanted;
    wanted = wanted && use(frame.payload);
    if (before && !wanted) request.stop_parts();
    request.taken();
  }
}

/// A request whose bytes the host pulls.
WireAnswer ask_streaming(Link& link, RunningCall& call, const WireWriter& payload,
                         const std::function<std::int64_t(char*, std::size_t)>& source) {
  const std::lock_guard lock(call.replica);
  Request request(link, call.id, FrameKind::kRequest, payload.bytes());
  for (;;) {
    const auto frame = request.next();
    if (frame.kind != FrameKind::kPull) return answer_in(frame);
    request.pulled(frame, source);
  }
}

}  // namespace

void RunningCalls::add(const RunningCallPtr& call) {
  const std::lock_guard lock(mutex_);
  calls_.emplace(call->id, call);
}

void RunningCalls::remove(const RunningCall& call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call.id);
}

RunningCallPtr RunningCalls::of(const CallContext* context) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const auto& call) { return call.second->context.get() == context; });
  return found == calls_.end() ? nullptr : found->second;
}

void RunningCalls::cancel(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = calls_.find(id); found != calls_.end()) found->second->context->cancel();
}

bool LentReplicaReader::get(std::string_view collection, std::string_view id, const OnRow& on_row) {
  const std::lock_guard lock(call_->replica);
  auto payload = request_of(RequestKind::kGet);
  payload.text(collection).text(id);
  Request request(link_, call_->id, FrameKind::kRequest, payload.bytes());
  return found_in(take_parts(request, [&](std::string_view rows) { return each_row(rows, on_row); }));
}

QueryResult LentReplicaReader::query(const Query& query, const OnRow& on_row) {
  const std::lock_guard lock(call_->replica);
  auto payload = request_of(RequestKind::kQuery);
  put_query(payload, query);
  Request request(link_, call_->id, FrameKind::kRequest, payload.bytes());
  const auto answer = take_parts(request, [&](std::string_view rows) { return each_row(rows, on_row); });
  if (answer.status != KRUX_OK) throw error_of(answer);
  return answer.result;
}

bool LentReplicaReader::blob(std::string_view collection, std::string_view id, std::string_view name,
                             const std::function<bool(std::string_view)>& on_bytes) {
  const std::lock_guard lock(call_->replica);
  auto payload = request_of(RequestKind::kBlob);
  payload.text(collection).text(id).text(name);
  Request request(link_, call_->id, FrameKind::kRequest, payload.bytes());
  return found_in(take_parts(request, on_bytes));
}

bool LentReplicaReader::keep(std::string_view collection, std::string_view id, const KeptBlob& blob,
                             std::string_view text) {
  auto payload = request_of(RequestKind::kKeep);
  payload.text(collection).text(id).text(blob.name).flag(static_cast<bool>(blob.source)).i64(blob.total).text(text);
  return found_in(ask_streaming(link_, *call_, payload, blob.source));
}

std::string LentReplicaReader::put_fetched(Record record, std::string_view too_large) {
  const std::lock_guard lock(call_->replica);
  auto payload = request_of(RequestKind::kPutFetched);
  put_record(payload, record);
  payload.text(too_large);
  Request request(link_, call_->id, FrameKind::kRequest, payload.bytes());
  auto answer = answer_in(request.next());
  if (answer.status != KRUX_OK) throw error_of(answer);
  return std::move(answer.tail);
}

LentSyncSession::LentSyncSession(Link& link, RunningCallPtr call)
    : link_(link), call_(std::move(call)), reader_(std::make_shared<LentReplicaReader>(link, call_)) {}

WireAnswer LentSyncSession::ask(const WireWriter& payload) {
  const std::lock_guard lock(call_->replica);
  Request request(link_, call_->id, FrameKind::kRequest, payload.bytes());
  auto answer = answer_in(request.next());
  if (answer.status != KRUX_OK && answer.status != KRUX_NOT_FOUND) throw error_of(answer);
  return answer;
}

std::string LentSyncSession::put(Record record) {
  auto payload = request_of(RequestKind::kPut);
  put_record(payload, record);
  return ask(payload).tail;
}

void LentSyncSession::erase_blob(std::string_view collection, std::string_view id, std::string_view name) {
  auto payload = request_of(RequestKind::kEraseBlob);
  payload.text(collection).text(id).text(name);
  ask(payload);
}

void LentSyncSession::leave_out(Record record, std::string_view why) {
  Record known;
  known.collection = std::move(record.collection);
  known.id = std::move(record.id);
  known.scope = std::move(record.scope);
  known.order_ms = record.order_ms;
  known.generation = record.generation;
  auto payload = request_of(RequestKind::kLeaveOut);
  put_record(payload, known);
  payload.text(why);
  ask(payload);
}

void LentSyncSession::keep_text(std::string_view collection, std::string_view id, std::string_view text) {
  auto payload = request_of(RequestKind::kKeepText);
  payload.text(collection).text(id).text(text);
  ask(payload);
}

void LentSyncSession::erase(std::string_view collection, std::string_view id) {
  auto payload = request_of(RequestKind::kErase);
  payload.text(collection).text(id);
  ask(payload);
}

void LentSyncSession::sweep(std::string_view collection, std::string_view scope, std::int64_t generation,
                            std::int64_t from_ms, std::int64_t to_ms) {
  auto payload = request_of(RequestKind::kSweep);
  payload.text(collection).text(scope).i64(generation).i64(from_ms).i64(to_ms);
  ask(payload);
}

void LentSyncSession::put_blob(std::string_view collection, std::string_view id, std::string_view name,
                               std::int64_t total, const std::function<std::int64_t(char*, std::size_t)>& source) {
  auto payload = request_of(RequestKind::kPutBlob);
  payload.text(collection).text(id).text(name).i64(total);
  const auto answer = ask_streaming(link_, *call_, payload, source);
  if (answer.status != KRUX_OK) throw error_of(answer);
}

std::optional<std::string> LentSyncSession::cursor(std::string_view key) {
  auto payload = request_of(RequestKind::kGetCursor);
  payload.text(key);
  auto answer = ask(payload);
  if (answer.status == KRUX_NOT_FOUND) return std::nullopt;
  return std::move(answer.tail);
}

void LentSyncSession::set_cursor(std::string_view key, std::string_view value) {
  auto payload = request_of(RequestKind::kSetCursor);
  payload.text(key).text(value);
  ask(payload);
}

void LentSyncSession::commit() {
  ask(request_of(RequestKind::kCommit));
}

void LentSyncSession::report(std::string_view part, krux_status status, std::string_view message) {
  auto payload = request_of(RequestKind::kReport);
  payload.text(part).u32(static_cast<std::uint32_t>(status)).text(message);
  ask(payload);
}

bool remember(Link& link, RunningCall& call, std::string_view note_json) {
  const std::lock_guard lock(call.replica);
  auto payload = request_of(RequestKind::kRemember);
  payload.text(note_json);
  Request request(link, call.id, FrameKind::kRequest, payload.bytes());
  return answer_in(request.next()).status == KRUX_OK;
}

std::shared_ptr<const ReadDialogue> dialogue_of(Link& link, RunningCall& call, ReadDialogue known) {
  const auto ask = [&link, &call](const WireWriter& payload) {
    const std::lock_guard lock(call.replica);
    Request request(link, call.id, FrameKind::kRequest, payload.bytes());
    return answer_in(request.next()).status;
  };
  known.progress = [ask](const ReadProgress& progress) {
    auto payload = request_of(RequestKind::kProgress);
    payload.u64(std::bit_cast<std::uint64_t>(progress.done)).u64(std::bit_cast<std::uint64_t>(progress.total));
    ask(payload.text(progress.message));
  };
  known.tell = [ask](std::int32_t level, std::string_view message) {
    auto payload = request_of(RequestKind::kTell);
    ask(payload.u8(static_cast<std::uint8_t>(level)).text(message));
  };
  known.hand_on = [ask](const AskedInput& input) {
    auto payload = request_of(RequestKind::kAskInput);
    return ask(payload.text(input.questions_json).text(input.state));
  };
  return std::make_shared<const ReadDialogue>(std::move(known));
}

std::size_t LentUploadReader::read(const CallContext& call, std::string_view upload_id, std::uint64_t offset,
                                   char* buffer, std::size_t size) {
  const auto running = calls_.of(&call);
  if (!running) throw Error(ErrorCode::kCancelled, "The call has ended.");
  const std::lock_guard lock(running->replica);
  auto payload = request_of(RequestKind::kReadUpload);
  payload.text(upload_id).u64(offset).u32(static_cast<std::uint32_t>(std::min<std::size_t>(size, 1u << 30)));
  Request request(link_, running->id, FrameKind::kRequest, payload.bytes());
  const auto answer = answer_in(request.next());
  if (answer.status != KRUX_OK) throw error_of(answer);
  return answer.tail.copy(buffer, size);
}

HttpOutcome LentHttpClient::send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) {
  const auto running = calls_.of(call.get());
  if (!running) return {KRUX_CANCELLED, "The call has ended.", std::nullopt};
  running->exchanges.acquire();
  const std::unique_ptr<RunningCall, void (*)(RunningCall*)> place(running.get(),
                                                                   [](RunningCall* of) { of->exchanges.release(); });
  return exchange(running->id, request, sink);
}

HttpOutcome LentHttpClient::exchange(std::uint64_t call, const HttpRequest& request, HttpSink& sink) {
  if (request.body_source || request.body.size() <= limits::kLargestInlineBody) return carry(call, request, sink);
  // A body that is too large for a frame travels as one that is streamed.
  HttpRequest streamed{
      request.method,    request.url, request.headers, {}, {}, -1, request.timeout_ms, request.max_response_bytes,
      request.only_reads};
  std::size_t at = 0;
  streamed.body_length = static_cast<std::int64_t>(request.body.size());
  streamed.body_source = [&](char* buffer, std::size_t capacity) {
    const auto count = request.body.copy(buffer, capacity, at);
    at += count;
    return static_cast<std::int64_t>(count);
  };
  return carry(call, streamed, sink);
}

HttpOutcome LentHttpClient::carry(std::uint64_t call, const HttpRequest& request, HttpSink& sink) {
  auto payload = request_of(RequestKind::kSend);
  put_http_request(payload, request, static_cast<bool>(request.body_source));
  Request exchange(link_, call, FrameKind::kRequest, payload.bytes());
  bool wanted = true;
  const auto stop_unless = [&](bool go_on) {
    if (wanted && !go_on) exchange.stop_parts();
    wanted = wanted && go_on;
  };
  for (;;) {
    const auto frame = exchange.next();
    if (frame.kind == FrameKind::kPull) {
      exchange.pulled(frame, request.body_source);
    } else if (frame.kind == FrameKind::kHead) {
      WireReader in(frame.payload);
      const auto status = static_cast<int>(in.u32());
      stop_unless(sink.head(status, get_headers(in)));
    } else if (frame.kind == FrameKind::kPart) {
      stop_unless(wanted && sink.body(frame.payload));
      exchange.taken();
    } else {
      const auto answer = answer_in(frame);
      if (answer.status == KRUX_OK && !wanted) {
        return {KRUX_CANCELLED, "The adapter wanted no more of it.", std::nullopt};
      }
      return {answer.status, answer.words, answer.retry_after_ms};
    }
  }
}

}  // namespace krux::runner
