// A fake service, and the processes that try the adapter out against it, one check after the other.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "host/certify/certify.hpp"
#include "host/certify/child_process.hpp"
#include "host/certify/fake_service.hpp"

namespace krux::certify {

using CheckTasks = std::deque<CheckTask>;

/// What runs that go on at once find out. Any thread.
class Findings {
 public:
  /// `add` is called by one thread at a time.
  explicit Findings(std::function<void(CheckResult)> add) : add_(std::move(add)) {}

  void add(CheckResult result);
  void fail(const CheckTask& task, const std::string& happened);
  void skip(const CheckTasks& tasks, const std::string& why);
  void leak(const std::string& where);  ///< the token stood there
  void worker_began();
  void cut_short();  ///< there are checks that were not made

  std::set<std::string> leaks() const;
  bool any_worker() const;
  bool cut() const;

 private:
  mutable std::mutex mutex_;
  const std::function<void(CheckResult)> add_;
  std::set<std::string> leaks_;
  bool any_worker_ = false, cut_ = false;
};

/// Of all runs; they outlive each.
struct CheckRunParts {
  const CertifyOptions& options;
  const BundleManifest& manifest;
  const std::filesystem::path &worker, &scratch;
  std::int64_t until_ms = 0;  ///< of the steady clock
};

/// Where what a run's fake service prints goes.
std::filesystem::path service_log(const std::filesystem::path& scratch, std::size_t number);

/// One thread.
class CheckRun {
 public:
  /// `number` is that of no other run. The service need not have been started.
  CheckRun(const CheckRunParts& parts, Findings& findings, FakeService& service, std::size_t number)
      : parts_(parts), findings_(findings), service_(service), number_(number) {}

  void run(CheckTasks tasks);

 private:
  void run_worker_for(CheckTasks& tasks);
  bool take_lines(ChildProcess& worker, CheckTasks& tasks);
  bool keep_service(CheckResult& result);

  const CheckRunParts& parts_;
  Findings& findings_;
  FakeService& service_;
  const std::size_t number_;
  int workers_ = 0;
};

}  // namespace krux::certify
