// What a runner asks for during a call, done.
#include <kruxos/abi/entry.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/edge.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/runner/remote_call.hpp"
#include "host/runner/runner_process.hpp"

namespace krux {
namespace {

WireAnswer failed(krux_status status, std::string words) {
  WireAnswer answer;
  answer.status = is_known(status) && status != KRUX_OK ? status : KRUX_INTERNAL;
  answer.words = std::move(words);
  return answer;
}

/// What the host's own code throws is an answer as well; only a frame that makes no sense is not.
template <class Body>
WireAnswer guarded(const CallContext& call, Body&& body) {
  if (call.ended()) return failed(KRUX_CANCELLED, "The call has ended.");
  try {
    return body();
  } catch (const BadFrame&) {
    throw;
  } catch (const Error& e) {
    return failed(status_of(e), e.what());
  } catch (const std::exception& e) {
    return failed(KRUX_INTERNAL, e.what());
  }
}

}  // namespace

void RemoteCall::serve(const Frame& frame) {
  const auto stream = open(frame.request, true);
  const auto said = guarded(*context_, [&] { return answer(frame, stream); });
  close(*stream);
  send_answer(frame.request, said);
}

WireAnswer RemoteCall::answer(const Frame& frame, const StreamPtr& stream) {
  WireReader in(frame.payload);
  const auto kind = static_cast<RequestKind>(in.below(kRequestKinds));
  switch (kind) {
    case RequestKind::kGet:
    case RequestKind::kQuery:
    case RequestKind::kBlob:
      return answer_reader(kind, in, stream);
    case RequestKind::kKeep:
      return answer_keep(in, stream);
    case RequestKind::kPutFetched: {
      auto record = get_record(in);
      const auto too_large = in.text(limits::kLongestReport);
      in.end();
      WireAnswer answer;
      answer.tail = reader().put_fetched(std::move(record), too_large);
      return answer;
    }
    case RequestKind::kReadUpload:
      return answer_upload(in);
    case RequestKind::kRemember:
      return remember(in);
    case RequestKind::kProgress:
    case RequestKind::kTell:
    case RequestKind::kAskInput:
      return converse(kind, in);
    default:
      return answer_store(kind, in, stream);
  }
}

ReplicaReader& RemoteCall::reader() const {
  if (loans_.session) return *loans_.session->reader();
  if (!loans_.reader) throw BadFrame("It reads the replica in a call that has none.");
  return *loans_.reader;
}

WireAnswer RemoteCall::answer_reader(RequestKind kind, WireReader& in, const StreamPtr& stream) {
  WireAnswer answer;
  WireWriter rows;
  const auto on_row = [&](const RowView& row) {
    put_row(rows, row);
    return rows.bytes().size() < kPartBytes || part(stream, FrameKind::kPart, rows.take());
  };
  bool found = true;
  if (kind == RequestKind::kQuery) {
    const auto query = get_query(in);
    in.end();
    answer.result = reader().query(query, on_row);
  } else {
    const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
    if (kind == RequestKind::kGet) {
      in.end();
      found = reader().get(collection, id, on_row);
    } else {
      const auto name = in.text(limits::kLongestName);
      in.end();
      found = reader().blob(collection, id, name, [&](std::string_view bytes) {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPartBytes))) {
          if (!part(stream, FrameKind::kPart, bytes.substr(0, kPartBytes))) return false;
        }
        return true;
      });
    }
  }
  if (!found) answer.status = KRUX_NOT_FOUND;
  answer.tail = rows.take();
  return answer;
}

WireAnswer RemoteCall::answer_store(RequestKind kind, WireReader& in, const StreamPtr& stream) {
  if (!loans_.session) throw BadFrame("It writes the replica in a call that is no sync.");
  auto& session = *loans_.session;
  switch (kind) {
    case RequestKind::kGetCursor:
    case RequestKind::kSetCursor:
      return answer_cursor(kind, in);
    case RequestKind::kPutBlob:
      return answer_put_blob(in, stream);
    case RequestKind::kPut: {
      auto record = get_record(in);
      in.end();
      WireAnswer answer;
      answer.tail = session.put(std::move(record));
      return answer;
    }
    case RequestKind::kLeaveOut: {
      auto record = get_record(in);
      const auto why = in.text(limits::kLongestReport);
      in.end();
      session.leave_out(std::move(record), why);
      return {};
    }
    case RequestKind::kKeepText: {
      const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
      const auto text = in.bytes(limits::kLongestKeptText + 1);
      in.end();
      session.keep_text(collection, id, text);
      return {};
    }
    case RequestKind::kEraseBlob: {
      const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
      const auto name = in.text(limits::kLongestName);
      in.end();
      session.erase_blob(collection, id, name);
      return {};
    }
    case RequestKind::kErase: {
      const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
      in.end();
      session.erase(collection, id);
      return {};
    }
    case RequestKind::kSweep: {
      const auto collection = in.text(limits::kLongestName), scope = in.bytes(limits::kLongestUnfitId);
      const auto generation = in.i64(), from_ms = in.i64(), to_ms = in.i64();
      in.end();
      session.sweep(collection, scope, generation, from_ms, to_ms);
      return {};
    }
    case RequestKind::kReport:
      return answer_report(in);
    default:
      in.end();
      session.commit();
      return {};
  }
}

WireAnswer RemoteCall::answer_report(WireReader& in) {
  const auto part_name = in.text(limits::kLongestId);
  const auto status = static_cast<krux_status>(in.u32());
  const auto message = in.text(limits::kLongestReport);
  in.end();
  loans_.session->report(part_name, is_known(status) ? status : KRUX_INTERNAL, message);
  return {};
}

WireAnswer RemoteCall::answer_cursor(RequestKind kind, WireReader& in) {
  WireAnswer answer;
  const auto key = in.text(limits::kLongestId);
  if (kind == RequestKind::kSetCursor) {
    const auto value = in.text(limits::kLongestCursor);
    in.end();
    loans_.session->set_cursor(key, value);
    return answer;
  }
  in.end();
  auto value = loans_.session->cursor(key);
  if (!value) answer.status = KRUX_NOT_FOUND;
  answer.tail = std::move(value).value_or("");
  return answer;
}

WireAnswer RemoteCall::answer_put_blob(WireReader& in, const StreamPtr& stream) {
  const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
  const auto name = in.text(limits::kLongestName);
  const auto total = in.i64();
  in.end();
  loans_.session->put_blob(collection, id, name, total,
                           [&](char* buffer, std::size_t capacity) { return pull(stream, buffer, capacity); });
  return {};
}

WireAnswer RemoteCall::answer_keep(WireReader& in, const StreamPtr& stream) {
  const auto collection = in.text(limits::kLongestName), id = in.bytes(limits::kLongestUnfitId);
  const auto name = in.text(limits::kLongestName);
  const bool has_bytes = in.flag();
  KeptBlob blob{std::string(name), in.i64(), {}};
  const auto text = in.bytes(limits::kLongestKeptText + 1);
  in.end();
  if (has_bytes) {
    blob.source = [&](char* buffer, std::size_t capacity) { return pull(stream, buffer, capacity); };
  }
  WireAnswer answer;
  if (!reader().keep(collection, id, blob, text)) answer.status = KRUX_NOT_FOUND;
  return answer;
}

WireAnswer RemoteCall::answer_upload(WireReader& in) {
  const auto id = in.text(limits::kLongestName);
  const auto offset = in.u64();
  const auto size = std::min<std::size_t>(in.u32(), limits::kMostUploadBytes);
  in.end();
  if (!loans_.uploads) return failed(KRUX_UNSUPPORTED, "This call carries no uploads.");
  WireAnswer answer;
  answer.tail.resize(size);
  answer.tail.resize(loans_.uploads->read(*context_, id, offset, answer.tail.data(), size));
  return answer;
}

WireAnswer RemoteCall::remember(WireReader& in) {
  const auto note = in.text(limits::kLargestNote);
  in.end();
  if (!loans_.notes) throw BadFrame("It keeps a note in a call that is no write.");
  parse_json(note, "the note");
  if (context_->remember(note)) return {};
  return failed(context_->ended() ? KRUX_CANCELLED : KRUX_STORAGE, "The note could not be kept.");
}

/// What a read says to whoever waits for it.
WireAnswer RemoteCall::converse(RequestKind kind, WireReader& in) {
  const auto* dialogue = context_->dialogue();
  if (!dialogue) throw BadFrame("It speaks to somebody in a call that has nobody.");
  if (kind == RequestKind::kAskInput) {
    AskedInput input{std::string(in.text(limits::kLargestQuestions)), std::string(in.text(limits::kLargestReadState))};
    in.end();
    if (!is_json_object(input.questions_json, {limits::kLargestQuestions, 32}))
      throw BadFrame("What a read asks is no JSON object.");
    WireAnswer answer;
    answer.status = context_->ask(std::move(input));
    return answer;
  }
  if (kind == RequestKind::kTell) {
    const auto level = in.below(KRUX_LOG_ERROR + 1);
    const auto message = printable(in.text(limits::kLongestFailure));
    in.end();
    if (dialogue->tell) dialogue->tell(level, message);
    return {};
  }
  const auto done = std::bit_cast<double>(in.u64()), total = std::bit_cast<double>(in.u64());
  const auto message = printable(in.text(limits::kLongestFailure));
  in.end();
  if (!std::isfinite(done) || !std::isfinite(total)) throw BadFrame("Progress is a number.");
  if (dialogue->progress) dialogue->progress({done, total, message});
  return {};
}

/// Passes an answer of the service on.
class RemoteCall::Sink final : public HttpSink {
 public:
  Sink(RemoteCall& call, const StreamPtr& stream) : call_(call), stream_(stream) {}
  bool head(int status, const HttpHeaders& headers) override {
    WireWriter out;
    out.u32(static_cast<std::uint32_t>(status));
    put_headers(out, headers);
    return !call_.context_->ended() && call_.part(stream_, FrameKind::kHead, out.bytes());
  }
  bool body(std::string_view bytes) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPartBytes))) {
      if (call_.context_->ended() || !call_.part(stream_, FrameKind::kPart, bytes.substr(0, kPartBytes))) return false;
    }
    return true;
  }

 private:
  RemoteCall& call_;
  const StreamPtr& stream_;
};

void RemoteCall::begin_exchange(Frame frame) {
  if (!loans_.http) throw BadFrame("It sends in a call that has no service.");
  {
    const std::lock_guard lock(mutex_);
    if (exchanges_ >= kMostExchanges) throw BadFrame("It sends too many requests at once.");
    ++exchanges_;
  }
  const auto stream = open(frame.request, false);
  const auto request = frame.request;
  const auto run = [me = shared_from_this(), frame = std::make_shared<Frame>(std::move(frame)), stream] {
    WireAnswer answer;
    try {
      answer = me->exchange(*frame, stream);
    } catch (const BadFrame& e) {
      me->process_->condemn(e.what(), true);
    }
    me->close(*stream);
    {
      const std::lock_guard lock(me->mutex_);
      --me->exchanges_;
    }
    me->send_answer(frame->request, answer);
  };
  if (helpers_->start(run)) return;
  close(*stream);
  {
    const std::lock_guard lock(mutex_);
    --exchanges_;
  }
  send_answer(request, failed(KRUX_UNAVAILABLE, "The host has no thread left to send with."));
}

WireAnswer RemoteCall::exchange(const Frame& frame, const StreamPtr& stream) {
  return guarded(*context_, [&] {
    WireReader in(frame.payload);
    in.below(kRequestKinds);
    bool streamed = false;
    auto request = get_http_request(in, streamed);
    in.end();
    if (streamed) {
      request.body_source = [&](char* buffer, std::size_t capacity) { return pull(stream, buffer, capacity); };
    }
    Sink sink(*this, stream);
    const auto outcome = loans_.http->send(context_, request, sink);
    WireAnswer answer;
    answer.status = is_known(outcome.status) ? outcome.status : KRUX_INTERNAL;
    answer.words = outcome.message;
    answer.retry_after_ms = outcome.retry_after_ms;
    return answer;
  });
}

}  // namespace krux
