// The talk with a server's program: what callers ask, and the thread that asks it for them.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "messages.hpp"
#include "outbox.hpp"
#include "restarts.hpp"
#include "server_program.hpp"
#include "stdio_link.hpp"

namespace mcp {

/// What the callers and the link's thread share. All members without a word of their own are under the mutex.
class StdioTalk {
 public:
  explicit StdioTalk(StdioOptions options);
  ~StdioTalk();
  StdioTalk(const StdioTalk&) = delete;
  StdioTalk& operator=(const StdioTalk&) = delete;

  std::string ask(const kruxos::Call& call, const Request& request);
  std::uint64_t tools_version() const { return tools_version_; }
  std::uint64_t sessions() const { return sessions_; }

 private:
  // On callers' threads.
  void begin(std::int64_t now_ms);
  [[noreturn]] void give_up(Asked& asked, kruxos::ErrorKind kind);
  void wake();

  // On the link's own.
  void work();
  bool wait_for_asks();
  void run();
  void start_talk();
  void serve(ServerProgram& program);
  void send(ServerProgram& program);
  void send_step(std::optional<Handshake::Step> step);
  void take(std::string_view line, ServerProgram& program);
  void take(Incoming incoming, ServerProgram& program);
  void take_step(std::optional<Answer> answer, ServerProgram& program);
  void finish(Asked& asked);
  void fail_all(const kruxos::ProxyError& error);

  const StdioOptions options_;
  const workspace::Descriptor wake_;
  std::atomic<std::uint64_t> tools_version_ = 1, sessions_ = 0;
  bool sandbox_known_ = false;  ///< the thread's

  std::mutex mutex_;
  std::condition_variable left_;
  std::map<std::int64_t, AskedPtr> asked_;  ///< by id: all that somebody waits for
  Outbox outbox_;
  Restarts restarts_;
  std::int64_t last_id_ = 0;
  int asking_ = 0;  ///< calls that have not left yet
  bool running_ = false, stopping_ = false;
  std::string before_;  ///< how the program ended last

  // Of the program that runs.
  Handshake handshake_;
  std::optional<std::int64_t> step_;  ///< the id of the handshake's request that is under way
  bool agreed_ = false;
  std::optional<kruxos::ProxyError> refused_;  ///< why its handshake failed
  int unanswered_ = 0;                         ///< deadlines in a row
  std::int64_t idle_messages_ = 0;
  std::size_t idle_bytes_ = 0;

  std::thread thread_;
};

}  // namespace mcp
