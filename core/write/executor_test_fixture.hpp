// An executor with a scripted adapter, and the answers it is scripted with.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/write/write_test_support.hpp"

namespace write_test {

struct ExecutorFixture {
  support::Scratch scratch;
  DrivenClock clock;
  std::shared_ptr<ScriptedAdapter> adapter = std::make_shared<ScriptedAdapter>();
  std::atomic<int> executed{0}, looked{0};

  /// execute_write answers the n-th call (from 1) with answers[n], the last one from then on.
  void answers(const std::vector<std::function<CallResult<std::string>(const CallContextPtr&)>>& each) {
    adapter->on_execute = [this, each](const CallContextPtr& call, const AdapterWrite&) {
      const auto n = static_cast<std::size_t>(executed++);
      return each[std::min(n, each.size() - 1)](call);
    };
  }
  void looks_fail_with(const CallFailure& failure) {
    adapter->on_find = [this, failure](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
      ++looked;
      return failure;
    };
  }
  void finds(const std::vector<EffectFound>& each) {
    adapter->on_find = [this, each](const CallContextPtr&, const AdapterWrite&) -> CallResult<EffectFound> {
      const auto n = static_cast<std::size_t>(looked++);
      return each[std::min(n, each.size() - 1)];
    };
  }
};

/// A ledger with one write that waits for its window, and no host on it yet.
struct StoppedRun : ExecutorFixture {
  explicit StoppedRun(const NewWrite& write = new_write("hello")) {
    Host original(scratch.path(), clock);
    id = original.submit(write).write_id;
  }
  std::unique_ptr<Host> start() {
    auto host = std::make_unique<Host>(scratch.path(), clock);
    host->serve(adapter);
    return host;
  }
  std::string id;
};

inline std::vector<std::string> open_alerts(Host& host, DrivenClock& clock) {
  std::vector<std::string> kinds;
  for (const auto& alert : AlertStore(host.store, clock).list(true)) kinds.push_back(alert.kind);
  return kinds;
}

inline CallResult<std::string> success(const CallContextPtr& call) {
  answered_request(call);
  return std::string(R"({"ok":true})");
}
inline CallResult<std::string> lost(const CallContextPtr& call) {
  call->begin_unsafe_request();
  return CallFailure{KRUX_NETWORK, false, {}, "connection reset", {}};
}
inline std::function<CallResult<std::string>(const CallContextPtr&)> refused(krux_status status,
                                                                             std::optional<std::int64_t> after = {}) {
  return [=](const CallContextPtr& call) -> CallResult<std::string> {
    answered_request(call);
    return CallFailure{status, true, {}, "not now", after};
  };
}

inline NewWrite at_once(const std::string& text, const std::string& operation = "notes.add") {
  auto w = new_write(text, operation);
  w.immediate = true;
  return w;
}

inline const EffectFound kFound{EffectFound::Answer::kFound, R"({"id":"found"})"};
inline const EffectFound kAbsent{EffectFound::Answer::kAbsent, ""};
inline const EffectFound kDisproved{EffectFound::Answer::kDisproved, ""};
inline const EffectFound kCannotTell{};

}  // namespace write_test
