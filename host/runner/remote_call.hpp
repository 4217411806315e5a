// One call into an adapter in a runner, and what the host lends to it meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/adapter/call.hpp"
#include "core/net/http.hpp"
#include "core/replica/sync_session.hpp"
#include "core/upload/upload_reader.hpp"
#include "host/runner/wire_types.hpp"
#include "host/sandbox/helper_threads.hpp"

namespace krux {

class RunnerProcess;

/// What a call may ask for. Null: it may not.
struct RemoteLoans {
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<ReplicaReader> reader;
  std::shared_ptr<SyncSession> session;
  bool notes = false;               ///< krux_call.remember
  UploadReader* uploads = nullptr;  ///< which look at the call themselves
};

/// Replica, cursors and notes are served on the thread of run(), as they are in process; each HTTP request on a thread
/// of its own, so that the adapter may use the replica while an answer's body arrives.
class RemoteCall : public std::enable_shared_from_this<RemoteCall> {
 public:
  /// `clock` outlives the call.
  RemoteCall(std::shared_ptr<RunnerProcess> process, std::shared_ptr<HelperThreads> helpers, Clock& clock,
             CallContextPtr context, RemoteLoans loans);

  std::uint64_t id() const { return id_; }

  struct End {
    std::optional<std::string> payload;  ///< of kReturned
    std::string words;                   ///< otherwise: how the process ended
  };
  /// Blocks until the runner has answered or has ended. One that does not answer for a second after the deadline, and
  /// for half a second more in which the host itself ran, is killed: a host that was paused has not let it hear of the
  /// cancellation.
  End run(std::string_view payload);

  // By the thread that reads the socket.
  void deliver(Frame frame);  ///< throws BadFrame
  void process_ended(const std::string& words);

 private:
  /// A request under way. Guarded by the call's mutex.
  struct Stream {
    std::uint64_t id = 0;
    bool on_worker = true;
    std::uint32_t ahead = 0;  ///< parts that the runner has not used yet
    bool stopped = false;
    std::optional<std::string> pulled;
    std::string spare;  ///< pulled and not used yet; the serving thread's alone
  };
  using StreamPtr = std::shared_ptr<Stream>;
  class Sink;

  bool over() const { return returned_ || ended_; }
  StreamPtr open(std::uint64_t request, bool on_worker);
  void close(const Stream& stream);
  void deliver_request(Frame frame);
  void deliver_to_stream(const Frame& frame);

  /// Waits until `ready`; the call's own thread serves nested requests meanwhile. False: the call is over.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, bool on_worker, Ready&& ready);
  bool part(const StreamPtr& stream, FrameKind kind, std::string_view payload);
  std::int64_t pull(const StreamPtr& stream, char* buffer, std::size_t capacity);
  bool pull_more(const StreamPtr& stream);

  void serve_next(std::unique_lock<std::mutex>& lock);
  void serve(const Frame& frame);
  WireAnswer answer(const Frame& frame, const StreamPtr& stream);
  WireAnswer answer_reader(RequestKind kind, WireReader& in, const StreamPtr& stream);
  WireAnswer answer_store(RequestKind kind, WireReader& in, const StreamPtr& stream);
  WireAnswer answer_cursor(RequestKind kind, WireReader& in);
  WireAnswer answer_put_blob(WireReader& in, const StreamPtr& stream);
  WireAnswer answer_report(WireReader& in);
  WireAnswer answer_keep(WireReader& in, const StreamPtr& stream);
  WireAnswer answer_upload(WireReader& in);
  WireAnswer remember(WireReader& in);
  WireAnswer converse(RequestKind kind, WireReader& in);
  ReplicaReader& reader() const;
  void begin_exchange(Frame frame);
  WireAnswer exchange(const Frame& frame, const StreamPtr& stream);
  void send_answer(std::uint64_t request, const WireAnswer& answer);

  const std::shared_ptr<RunnerProcess> process_;
  const std::shared_ptr<HelperThreads> helpers_;
  Clock& clock_;
  const CallContextPtr context_;
  const RemoteLoans loans_;
  const std::uint64_t id_;
  const std::int64_t kill_boot_ms_;
  int kill_ticks_left_;
  int depth_ = 0;  ///< of nested requests; the call's thread alone

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> inbox_;
  std::map<std::uint64_t, StreamPtr> streams_;
  std::size_t exchanges_ = 0;
  bool returned_ = false, ended_ = false;
  std::string payload_, words_;
};

}  // namespace krux
