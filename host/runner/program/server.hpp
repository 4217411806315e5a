// The runner: answers the host's calls by the adapter.
#pragma once

#include <kruxos/abi/entry.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/adapter/service_adapter.hpp"
#include "host/runner/program/lent.hpp"
#include "host/runner/wire_function.hpp"

namespace krux::runner {

class Server {
 public:
  Server(Link& link, const krux_plugin_entry& entry) : link_(link), entry_(entry) {}

  /// Serves until the host closes the socket, says stop, or sends what makes no sense. The process ends then: it does
  /// not return.
  [[noreturn]] void run();

 private:
  /// An adapter and whose it is.
  struct Adapter {
    std::string service, account_id;
    std::uint32_t generation = 0;
    std::shared_ptr<ServiceAdapter> adapter;
  };
  /// A call as it came.
  struct Asked {
    std::uint64_t adapter = 0;
    std::uint8_t function = kAskCreate;
    std::uint32_t attempt = 0;
    std::string write_id, agent;
    std::int64_t left_ms = 0, wall_ms = 0;
    std::optional<ReadDialogue> dialogue;
    std::string arguments;
  };

  void on_frame(Frame frame);
  void start(std::function<void()> task);
  void work();
  Asked read_call(const Frame& frame) const;
  void answer_call(const Asked& asked, const RunningCallPtr& call);
  void answer_in(WireReader& in, const Asked& asked, const RunningCallPtr& call, WireWriter& out);
  void create(WireReader& in, const Asked& asked, const RunningCallPtr& call, WireWriter& out);
  RunningCallPtr begin(std::uint64_t id, const Asked& asked);
  void destroy(std::uint64_t id);

  Link& link_;
  const krux_plugin_entry& entry_;
  HostClock clock_{link_};
  RunningCalls calls_;
  std::shared_ptr<LentHttpClient> http_ = std::make_shared<LentHttpClient>(link_, calls_);
  LentUploadReader uploads_{link_, calls_};

  std::mutex mutex_;
  std::condition_variable work_cv_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
  std::map<std::uint64_t, Adapter> adapters_;
};

}  // namespace krux::runner
