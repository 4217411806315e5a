#include "bench/host_rig.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/report.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kToken = "xoxb-bench-0000-token";
constexpr std::int64_t kMostSyncMs = 900'000;

test::SlackEmulatorOptions emulator_options() {
  test::SlackEmulatorOptions options;
  options.tokens = {kToken};
  options.driven_clock = false;
  return options;
}

}  // namespace

HostRig::HostRig(const fs::path& directory) : HostRig(directory, "") {}

HostRig::HostRig(const fs::path& directory, const std::string& further)
    : BenchHost(directory, "slack"), slack_(emulator_options()) {
  configure(
      fmt::format("    api_base_url: {}\n    sync_interval_seconds: 86400\n    initial_messages_per_channel: 100000\n"
                  "    quota: [{{match: conversations.history, per_minute: 1000000, burst: 1000}}]\n",
                  slack_.api_base_url()) +
      further);
}

double HostRig::start(int workers) {
  const auto begun = now_s();
  launch({"--set", fmt::format("worker_threads={}", workers)});
  return (now_s() - begun) * 1000;
}

void HostRig::connect() {
  operate("POST", "/connections/slack", fmt::format(R"({{"token":"{}"}})", kToken));
}

void HostRig::await_sync(std::int64_t messages) {
  for (std::int64_t waited = 0; waited < kMostSyncMs; waited += 10) {
    const auto account = sync_status();
    const auto* records = find_member(account, "records");
    if (find_int(account, "failures_in_a_row").value_or(0) > 0) wrong("the sync failed: " + to_json(account));
    if (find_int(account, "passes").value_or(0) > 0 && find_string(account, "phase") == "idle") {
      if (!records || find_int(*records, "messages") != messages) wrong("messages are missing: " + to_json(account));
      return;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  wrong("the sync did not end");
}

fs::path HostRig::replica(const std::string& service) const {
  for (const auto& entry : fs::directory_iterator(directory_ / "data/replica" / service)) {
    if (entry.path().extension() == ".db") return entry.path();
  }
  wrong("there is no replica");
}

}  // namespace krux::bench
