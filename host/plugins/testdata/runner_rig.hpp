// Adapters in processes of their own, for tests.
#pragma once

#include <functional>
#include <mutex>

#include "host/plugins/testdata/fakes.hpp"

namespace krux::test {

/// Adapters in runners, with time that a test drives and every alert kept.
struct RunnerRig {
  using Change = std::function<void(AdapterRunners::Options&)>;
  explicit RunnerRig(RunnerLimits limits = {}, const Change& change = {}) {
    AdapterRunners::Options options{KRUXOS_PLUGIN_RUNNER, {{"unruly", limits}}, keep_log, 30'000};
    if (change) change(options);
    RunnerAlerts alerts{[this](const std::string& kind, const std::string&, const std::string& message) {
                          const std::lock_guard lock(mutex);
                          raised.push_back(kind + ": " + message);
                        },
                        [this](const std::string& kind, const std::string&) {
                          const std::lock_guard lock(mutex);
                          settled.push_back(kind);
                        }};
    runners = std::make_unique<AdapterRunners>(registry, clock, options, alerts);
    factory = std::make_unique<PluginFactory>(registry, runner, clock, keep_log, 30'000, runners.get());
    http->answer = [](const HttpRequest& request) {
      return std::pair(200, request.url == "large" ? std::string(3 << 20, 'b') : std::string("ok"));
    };
  }
  ~RunnerRig() {
    adapter.reset();
    CHECK(runners->stop(5'000));
  }

  std::shared_ptr<ServiceAdapter>& made() {
    if (!adapter) adapter = factory->make({"unruly", "T1", 1, std::nullopt, "{}", http});
    return adapter;
  }
  CallContextPtr call(std::int64_t ms = 60'000, const std::string& write_id = {}) {
    return std::make_shared<CallContext>(CallOwner{"unruly", "T1", 1, write_id, write_id.empty() ? 0u : 1u}, clock,
                                         clock.boot_ms() + ms);
  }
  CallResult<std::string> read(const std::string& what, const std::string& params = "{}") {
    return made()->ask<"read">(call(), reader, "unruly." + what, params);
  }
  CallFailure crash(const std::string& what, const std::string& params = "{}") {
    auto failure = failed(read(what, params));
    CHECK(failure.status == KRUX_INTERNAL);
    CHECK_THAT(failure.message, Catch::Contains("The adapter's process ended during the call."));
    return failure;
  }
  /// Until the next process may be started.
  void wait_out() { clock.advance(60'000); }
  pid_t pid() { return pid_of("unruly"); }
  pid_t pid_of(const std::string& service) { return static_cast<pid_t>(runners->find(service)->status().pid); }
  RunnerStatus status() { return runners->find("unruly")->status(); }
  std::size_t logged() {
    const std::lock_guard lock(mutex);
    return log.size();
  }
  std::vector<std::string> alerts() {
    const std::lock_guard lock(mutex);
    return raised;
  }
  bool take_logged(const std::string& part) {
    const std::lock_guard lock(mutex);
    return std::erase_if(log, [&](const auto& line) { return line.find(part) != std::string::npos; }) > 0;
  }

  std::mutex mutex;
  std::vector<std::string> raised, settled, log;
  AdapterLog keep_log = [this](int, const std::string&, const std::string&, std::string_view line) {
    const std::lock_guard lock(mutex);
    log.emplace_back(line);
  };
  DrivenClock clock;
  CallRunner runner{clock, {4, 16, 250}};
  const PluginRegistry& registry = test::registry(Isolation::kProcess);
  std::shared_ptr<FakeHttp> http = std::make_shared<FakeHttp>();
  std::shared_ptr<FakeReader> reader = std::make_shared<FakeReader>();
  std::unique_ptr<AdapterRunners> runners;
  std::unique_ptr<PluginFactory> factory;
  std::shared_ptr<ServiceAdapter> adapter;
};

}  // namespace krux::test
