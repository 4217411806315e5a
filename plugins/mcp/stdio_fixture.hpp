// For tests: a call whose clock any thread may read, and a server of test/emulators/mcp in its sandbox.
#pragma once
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <kruxos/adapter/call.hpp>
#include <kruxos/kit/json.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stdio_link.hpp"
#include "support/scratch.hpp"
#include "workspace/descriptor.hpp"

namespace mcp::testing {

class DrivenCall {
 public:
  explicit DrivenCall(std::int64_t begin_ms = 1'700'000'000'000) : now_ms(begin_ms) {
    abi_.size = sizeof abi_;
    abi_.self = this;
    abi_.deadline_ms = begin_ms + 60'000;
    abi_.cancelled = [](void* self) noexcept -> std::int32_t { return of(self).is_over() ? 1 : 0; };
    abi_.now_ms = [](void* self) noexcept -> std::int64_t { return of(self).now_ms; };
  }
  DrivenCall(const DrivenCall&) = delete;
  DrivenCall& operator=(const DrivenCall&) = delete;

  kruxos::Call call() const { return kruxos::Call(&abi_); }
  void pass_deadline() { now_ms = abi_.deadline_ms; }

  std::atomic<std::int64_t> now_ms;
  std::atomic<bool> cancelled = false;

 private:
  static DrivenCall& of(void* self) { return *static_cast<DrivenCall*>(self); }
  bool is_over() const { return cancelled || now_ms >= abi_.deadline_ms; }
  krux_call abi_{};
};

/// What has happened soon, though nobody says when.
inline bool soon(const std::function<bool()>& ready) {
  for (int i = 0; i < 4000; ++i) {
    if (ready()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// From here on, so that the kernel's limits hold as they do for a host.
inline void be_an_ordinary_user() {
  constexpr unsigned nobody = 65534;
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) throw std::runtime_error("setuid");
  prctl(PR_SET_DUMPABLE, 1);  // the sanitizers look into their own process
}

/// The failure of an ask, as a test looks at it.
struct Failed {
  kruxos::ErrorKind kind{};
  bool no_effect = false;
  std::string type, message;
  std::int64_t retry_after_ms = -1;
};

/// What an ask came to: a result, or why there is none.
struct Came {
  std::string result;
  std::optional<Failed> failed;
  std::optional<std::int64_t> code;  ///< of an error of JSON-RPC
};

inline Came came_of(const std::function<std::string()>& ask) {
  Came came;
  try {
    came.result = ask();
  } catch (const RpcError& error) {
    came.code = error.code();
    came.result = error.what();
  } catch (const kruxos::ProxyError& error) {
    came.failed = Failed{error.kind(), error.has_no_effect(), error.type(), error.what(), error.retry_after_ms()};
  }
  return came;
}

/// The server's home is a directory of the test's, so that it sees what the server keeps there.
class Served {
 public:
  explicit Served(const std::string& script_json = "{}", const std::vector<std::string>& more = {}) {
    std::ofstream(path("script.json")) << script_json;
    options.command = {
        KRUXOS_MCP_EMULATOR,     "--stdio", "--log", "/workspace/log", "--journal", "/workspace/journal", "--script",
        "/workspace/script.json"};
    options.command.insert(options.command.end(), more.begin(), more.end());
    options.confinement.readable = {std::filesystem::path(KRUXOS_MCP_EMULATOR).parent_path()};
    options.confinement.memory_mib = std::int64_t{1} << 40;  // a sanitizer takes all the addresses that there are
    give_home();
  }
  /// A shell's commands in the place of a server.
  struct Shell {
    std::string commands;
  };
  explicit Served(const Shell& shell) {
    options.command = {"/bin/sh", "-c", shell.commands};
    give_home();
  }

  StdioLink& link() {
    const std::lock_guard lock(making_);
    if (!link_) link_ = std::make_unique<StdioLink>(options);
    return *link_;
  }
  void end() { link_.reset(); }

  std::string ask(const std::string& method, const std::string& params = "{}") {
    return link().ask(call.call(), {method, params});
  }
  std::string use(const std::string& tool, const std::string& arguments = "{}") {
    return ask("tools/call", params_of(tool, arguments));
  }
  Came try_to(const std::string& method, const std::string& params = "{}") {
    return came_of([&] { return ask(method, params); });
  }
  Came try_to_use(const std::string& tool, const std::string& arguments = "{}") {
    return came_of([&] { return use(tool, arguments); });
  }
  static std::string params_of(const std::string& tool, const std::string& arguments = "{}") {
    return R"({"name":")" + tool + R"(","arguments":)" + arguments + "}";
  }

  std::vector<std::string> effects() const { return lines_of("journal"); }
  /// All that the server was told that has `part` in it.
  std::vector<std::string> heard(const std::string& part) const {
    std::vector<std::string> all;
    for (const auto& line : lines_of("log")) {
      if (line.find(part) != std::string::npos) all.push_back(line);
    }
    return all;
  }
  bool hears(const std::string& part, std::size_t times = 1) const {
    return soon([&] { return heard(part).size() >= times; });
  }
  std::string path(const std::string& name) const { return scratch_.path() / name; }

  StdioOptions options;  ///< until the first ask
  DrivenCall call;

 private:
  void give_home() {
    home_ = workspace::Descriptor(open(scratch_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    options.confinement.directory = home_.get();
    options.allow_root = true;
    options.allow_root_key = "services.notes.adapter.allow_root";
  }
  std::vector<std::string> lines_of(const std::string& name) const {
    std::vector<std::string> lines;
    std::ifstream in(path(name));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  support::Scratch scratch_;
  workspace::Descriptor home_;
  std::mutex making_;
  std::unique_ptr<StdioLink> link_;
};

}  // namespace mcp::testing
