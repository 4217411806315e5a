#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <list>
#include <thread>
#include <vector>

#include "core/definition/input_check.hpp"
#include "core/util/error.hpp"
#include "host/certify/checks.hpp"
#include "host/certify/write_trial.hpp"

namespace krux::certify {
namespace {

constexpr int kInstances = 30, kReaders = 3, kRounds = 5;
constexpr std::size_t kTolerance = 5;  ///< idle connections and workers come and go

std::size_t entries(const char* directory) {
  std::size_t count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator at(directory, gone), end; !gone && at != end; at.increment(gone)) ++count;
  return count;
}

/// Threads end a moment after they were joined.
bool settles_to(const char* directory, std::size_t most) {
  for (int i = 0; i < 100; ++i) {
    if (entries(directory) <= most) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void live_once(Lab& lab) {
  const auto adapter = lab.adapter();
  if (adapter->roles().account)
    lab.call<Identity>("verify", {}, [adapter](const auto& call) { return adapter->ask<"verify">(call); });
}

struct SampleRead {
  std::string capability, params, expected;
};

std::vector<SampleRead> sample_reads(Lab& lab, const std::shared_ptr<ServiceAdapter>& adapter) {
  std::vector<SampleRead> reads;
  if (!adapter->roles().read) return reads;
  const auto& given = lab.bench().kit().reads;
  for (const auto& capability : lab.definition().capabilities) {
    if (capability.kind != CapabilityKind::kRead || capability.fetches) continue;
    const auto at = given.find(capability.name);
    try {
      SampleRead read{
          capability.name,
          check_arguments(capability, at == given.end() ? "{}" : fill_json(at->second, lab.values())).params_json,
          {}};
      const auto reader = lab.synced_replica()->reader();
      const auto answer = lab.call<std::string>("a read", {}, [=](const auto& call) {
        return adapter->ask<"read">(call, reader, read.capability, read.params);
      });
      if (!answer.value()) continue;
      read.expected = *answer.value();
      reads.push_back(std::move(read));
    } catch (const Error&) {  // no sample parameters: the check of that read says so
    }
  }
  return reads;
}

std::list<WriteTrial> sample_writes(Lab& lab, const std::shared_ptr<ServiceAdapter>& adapter) {
  std::list<WriteTrial> writes;
  if (!adapter->roles().write) return writes;
  for (const auto& capability : lab.definition().capabilities) {
    if (capability.kind != CapabilityKind::kWrite) continue;
    try {
      for (int i = 0; i < 2; ++i) {
        WriteTrial trial(lab, capability.name);
        trial.need_counts();
        trial.prepare();
        writes.push_back(std::move(trial));
      }
    } catch (const CheckSkipped&) {  // the checks of that write say so
    }
  }
  return writes;
}

/// What went wrong first on any of several threads.
class FirstProblem {
 public:
  template <class Body>
  void guard(Body&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      if (words_.empty()) words_ = error.what();
    }
  }
  void raise() const {
    if (!words_.empty()) throw CheckFailed(fmt::format("With others beside it: {}", words_));
  }

 private:
  std::mutex mutex_;
  std::string words_;
};

void read_on(Lab& lab, const std::shared_ptr<ServiceAdapter>& adapter, const std::vector<SampleRead>& reads) {
  for (int i = 0; i < kRounds; ++i) {
    for (const auto& read : reads) {
      const auto reader = lab.synced_replica()->reader();
      const auto answer = lab.call<std::string>("a read", {}, [=](const auto& call) {
        return adapter->ask<"read">(call, reader, read.capability, read.params);
      });
      if (!answer.value() || *answer.value() != read.expected)
        throw CheckFailed(fmt::format("{} gave another answer than alone.", read.capability));
    }
  }
}

void write_once(Lab& lab, const std::shared_ptr<ServiceAdapter>& adapter, WriteTrial& trial) {
  // Shared: an abandoned call may keep a note long after.
  const auto note = std::make_shared<std::pair<std::mutex, std::string>>();
  CallOptions options;
  options.write_id = trial.write().write_id;
  options.attempt = 1;
  options.remember = [note](std::string_view json) {
    const std::lock_guard lock(note->first);
    note->second = json;
    return true;
  };
  const auto answer = lab.call<std::string>("a write", options, [adapter, write = trial.write()](const auto& call) {
    return adapter->ask<"execute_write">(call, write);
  });
  if (answer.failure())
    throw CheckFailed(fmt::format("{} failed: {}", trial.capability().name, in_words(*answer.failure())));
  const std::lock_guard lock(note->first);
  trial.set_note(note->second);
}

}  // namespace

void check_life(Lab& lab, const std::string&) {
  for (int i = 0; i < 3; ++i) live_once(lab);
  const auto threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
  for (int i = 0; i < kInstances; ++i) live_once(lab);
  if (!settles_to("/proc/self/task", threads + kTolerance))
    throw CheckFailed(fmt::format("After {} instances came and went there are {} threads, {} before.", kInstances,
                                  entries("/proc/self/task"), threads),
                      "When the destructor has ended, all threads of the instance are joined.");
  if (!settles_to("/proc/self/fd", files + kTolerance))
    throw CheckFailed(fmt::format("After {} instances came and went {} descriptors are open, {} before.", kInstances,
                                  entries("/proc/self/fd"), files),
                      "Close in the destructor what the instance has opened.");
}

void check_side_by_side(Lab& lab, const std::string&) {
  const auto adapter = lab.adapter();
  const auto reads = sample_reads(lab, adapter);
  auto writes = sample_writes(lab, adapter);
  if (reads.empty() && writes.empty())
    throw not_checked("the manifest has sample parameters for no read and no write whose effects are counted");
  lab.faults().clear();
  FirstProblem problem;
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] { problem.guard([&] { read_on(lab, adapter, reads); }); });
  }
  for (auto& trial : writes) {
    threads.emplace_back([&] { problem.guard([&] { write_once(lab, adapter, trial); }); });
  }
  for (auto& thread : threads) thread.join();
  problem.raise();
  for (auto& trial : writes) {
    trial.set_adapter(adapter);
    const auto look = trial.find();
    if (trial.can_find() && (!look.value() || look.value()->answer != EffectFound::Answer::kFound))
      throw CheckFailed(fmt::format("A {} that was executed beside others is not found.", trial.capability().name));
  }
  lab.note(fmt::format("{} reads from {} threads, {} writes.", reads.size(), kReaders, writes.size()));
}

}  // namespace krux::certify
