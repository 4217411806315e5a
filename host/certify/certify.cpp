#include "host/certify/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "core/definition/definition_loader.hpp"
#include "core/net/http_transport.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/certify/fake_service.hpp"
#include "host/certify/scratch_directory.hpp"
#include "host/certify/static_checks.hpp"
#include "host/certify/worker.hpp"
#include "host/plugins/probe.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kShownBytes = 1500;
constexpr std::int64_t kEndMs = 250;
constexpr const char* kNoSection = "the manifest has no section conformance";

bool wanted(const std::vector<std::string>& only, const std::string& id) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const auto& name) { return id == name || id.starts_with(name + "."); });
}

void check_only(const std::vector<std::string>& only) {
  std::vector<std::string> ids;
  for (const auto& check : all_checks()) ids.emplace_back(check.id);
  for (const auto& name : only) {
    if (std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return wanted({name}, id); })) continue;
    throw ConfigError(fmt::format("There is no check \"{}\"{}: `kruxos adapter certify --list` shows them.",
                                  printable(name), did_you_mean(name, ids)));
  }
}

class Kit {
 public:
  explicit Kit(const CertifyOptions& options);
  CertifyReport run();

 private:
  using Tasks = std::deque<CheckTask>;

  bool time_left() const { return steady_ms() < until_ms_; }
  void add(CheckResult result);
  template <class Body>
  bool make(const char* id, Body&& body);
  void skip_all(const Tasks& tasks, const std::string& why);
  Tasks tasks() const;
  void run_tasks(Tasks tasks);
  bool keep_service(CheckResult& result);
  void run_worker_for(Tasks& tasks);
  bool take_lines(ChildProcess& worker, Tasks& tasks);
  void fail(const CheckTask& task, const std::string& happened);
  void judge_secret();

  const CertifyOptions& options_;
  const std::int64_t until_ms_;
  const ScratchDirectory scratch_;
  const std::filesystem::path worker_program_, probe_;
  CertifyReport report_;
  std::shared_ptr<HttpTransport> transport_;
  std::unique_ptr<FakeService> service_;
  std::set<std::string> leaks_;
  bool any_worker_ = false, cut_ = false;
  int workers_ = 0;
};

Kit::Kit(const CertifyOptions& options)
    : options_(options),
      until_ms_(steady_ms() + options.time_limit_ms),
      worker_program_(options.worker.empty() ? find_helper("kruxos-certify-worker") : options.worker),
      probe_(options.probe.empty() ? find_helper("kruxos-plugin-probe") : options.probe) {
  check_only(options.only);
  if (worker_program_.empty() || probe_.empty())
    throw ConfigError("kruxos-certify-worker or kruxos-plugin-probe is missing beside the command; install it again.");
  auto& r = report_;
  r.began_ms = SystemClock().wall_ms();
  r.manifest = load_manifest(options.bundle);
  r.library_sha256 = bundle_file_hash(r.manifest, r.manifest.library);
  r.definition_sha256 = bundle_file_hash(r.manifest, r.manifest.definition);
  r.manifest_sha256 = bundle_file_hash(r.manifest, r.manifest.file.filename().string());
  if (!r.manifest.policy.empty()) r.policy_sha256 = bundle_file_hash(r.manifest, r.manifest.policy);
}

void Kit::add(CheckResult result) {
  const auto* info = find_check(result.id);
  result.title = info->title;
  result.did = info->did;
  result.expected = info->expected;
  if (result.hint.empty()) result.hint = info->hint;
  result.happened = printable(result.happened);
  if (options_.on_result) options_.on_result(result);
  report_.checks.push_back(std::move(result));
}

/// One of the kit's own checks; false when it has failed, also where it was left out.
template <class Body>
bool Kit::make(const char* id, Body&& body) {
  CheckResult result;
  result.id = id;
  const auto started = steady_ms();
  try {
    body();
    result.outcome = CheckOutcome::kPassed;
  } catch (const CheckFailed& failed) {
    result.happened = failed.what();
    result.hint = failed.hint();
  } catch (const CheckSkipped& skipped) {
    result.outcome = skipped.outcome();
    result.happened = skipped.what();
  } catch (const std::exception& error) {
    result.happened = error.what();
  }
  result.ms = steady_ms() - started;
  const bool good = result.outcome != CheckOutcome::kFailed;
  if (!good || wanted(options_.only, id)) add(std::move(result));
  return good;
}

void Kit::skip_all(const Tasks& tasks, const std::string& why) {
  for (const auto& task : tasks) {
    CheckResult result;
    result.id = task.id;
    result.subject = task.subject;
    result.outcome = CheckOutcome::kNotChecked;
    result.happened = why;
    add(std::move(result));
  }
}

/// Every check of the worker for every capability that it is about.
Kit::Tasks Kit::tasks() const {
  Tasks all;
  std::vector<CapabilityDefinition> capabilities;
  try {
    capabilities = load_definition(report_.manifest.directory / report_.manifest.definition).capabilities;
  } catch (const ConfigError&) {  // a check of its own says so
  }
  for (const auto& check : all_checks()) {
    if (check.scope == CheckScope::kKit || !wanted(options_.only, check.id)) continue;
    if (check.scope == CheckScope::kOnce) all.push_back({check.id, ""});
    const auto kind = check.scope == CheckScope::kRead ? CapabilityKind::kRead : CapabilityKind::kWrite;
    for (const auto& capability : capabilities) {
      if (check.scope != CheckScope::kOnce && capability.kind == kind) all.push_back({check.id, capability.name});
    }
  }
  return all;
}

CertifyReport Kit::run() {
  const auto started = steady_ms();
  const auto& manifest = report_.manifest;
  const BundleInspection inspection(manifest, probe_);
  bool fit = make("library.accepted", [&] { inspection.check_library(); });
  make("library.one_export", [&] { inspection.check_exports(); });
  fit = make("manifest.fits", [&] { inspection.check_manifest(); }) && fit;
  if (!fit) {
    skip_all(tasks(), "the library cannot be used as it is, see above");
  } else if (!manifest.conformance) {
    make("service.starts", [] { throw not_checked(kNoSection); });
    skip_all(tasks(), kNoSection);
  } else {
    transport_ = make_http_transport({});
    service_ = std::make_unique<FakeService>(manifest, load_definition(manifest.directory / manifest.definition),
                                             transport_, scratch_.path() / "service.log");
    if (make("service.starts", [&] { service_->start(); })) {
      run_tasks(tasks());
    } else {
      skip_all(tasks(), "the fake service did not start, see above");
    }
    service_->stop();
  }
  make("secret.token", [&] { judge_secret(); });
  report_.took_ms = steady_ms() - started;
  report_.whole = options_.only.empty() && any_worker_ && !cut_;
  return std::move(report_);
}

void Kit::run_tasks(Tasks tasks) {
  while (!tasks.empty() && time_left()) run_worker_for(tasks);
  cut_ = !tasks.empty();
  for (const auto& task : tasks)
    fail(task, fmt::format("The whole time of {} s was over before it.", options_.time_limit_ms / 1000));
}

void Kit::fail(const CheckTask& task, const std::string& happened) {
  CheckResult result;
  result.id = task.id;
  result.subject = task.subject;
  result.happened = happened;
  add(std::move(result));
}

/// One worker for as many of the tasks as it gets through: it ends with the first that fails.
void Kit::run_worker_for(Tasks& tasks) {
  if (!service_->running()) {
    try {
      service_->start();
    } catch (const CheckFailed& failed) {
      fail(tasks.front(), fmt::format("The fake service had ended and did not start again: {}", failed.what()));
      tasks.pop_front();
      return;
    }
  }
  const auto number = ++workers_;
  const auto scratch = scratch_.path() / fmt::format("worker-{}", number);
  std::filesystem::create_directory(scratch);
  ChildCommand command;
  command.argv = {worker_program_.string()};
  command.log = scratch_.path() / fmt::format("worker-{}.log", number);
  command.piped = true;
  command.input = to_json(
      WorkerOrder{report_.manifest.file, scratch, service_->port(), service_->token(), {tasks.begin(), tasks.end()}});
  any_worker_ = true;
  try {
    ChildProcess worker(command);
    if (!take_lines(worker, tasks)) {
      const auto why = worker.late() ? fmt::format("It had not ended after {} s.", options_.check_limit_ms / 1000)
                                     : worker.end_in_words();
      worker.end();
      fail(tasks.front(),
           fmt::format("The process that ran the adapter did not come to the check's end. {} It printed: {}", why,
                       tail_of(command.log, kShownBytes)));
      tasks.pop_front();
    }
  } catch (const std::system_error& error) {
    fail(tasks.front(), fmt::format("No process could be started for it: {}.", error.what()));
    tasks.pop_front();
  }
  std::ifstream log(command.log, std::ios::binary);
  const std::string printed{std::istreambuf_iterator<char>(log), {}};
  if (printed.find(service_->token()) != std::string::npos) leaks_.insert("what it printed");
}

/// The check has ended while the service had: whatever it found is of no use. A service that ends answers nobody a
/// moment before it has gone, so one that is behind a failure gets that moment.
bool Kit::keep_service(CheckResult& result) {
  const bool passed = result.outcome == CheckOutcome::kPassed;
  if (!service_->ends_within(passed ? 0 : kEndMs)) return true;
  result.outcome = CheckOutcome::kFailed;
  result.happened = fmt::format("The fake service ended during this check. It printed: {}",
                                tail_of(scratch_.path() / "service.log", kShownBytes));
  return false;
}

/// False when the worker went before it had ended the first of the tasks, or took too long for it.
bool Kit::take_lines(ChildProcess& worker, Tasks& tasks) {
  while (!tasks.empty()) {
    // Some time for loading comes on top; the whole time holds too.
    const auto until = std::min(steady_ms() + options_.check_limit_ms, until_ms_ + 5'000);
    for (;;) {
      const auto text = worker.read_line(until);
      if (!text) return false;
      const auto line = read_line(*text);
      if (line.kind == WorkerLine::Kind::kBegins) continue;
      if (line.kind == WorkerLine::Kind::kLeak) {
        leaks_.insert(line.text);
        continue;
      }
      if (line.kind == WorkerLine::Kind::kCannot) {
        skip_all(tasks, fmt::format("the worker cannot begin: {}", printable(line.text)));
        cut_ = true;
        tasks.clear();
        return true;
      }
      auto result = line.check;
      const bool alive = keep_service(result);
      const bool failed = result.outcome == CheckOutcome::kFailed;
      add(std::move(result));
      tasks.pop_front();
      if (failed || !alive) return true;
      break;
    }
  }
  return true;
}

void Kit::judge_secret() {
  if (!any_worker_) throw not_checked("the adapter was not run");
  if (leaks_.empty()) return;
  std::string places;
  for (const auto& place : leaks_) places += (places.empty() ? "" : ", ") + place;
  throw CheckFailed(fmt::format("The token stood in: {}.", places));
}

}  // namespace

std::size_t CertifyReport::count(CheckOutcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [&](const auto& check) { return check.outcome == outcome; }));
}

CertifyReport certify(const CertifyOptions& options) {
  return Kit(options).run();
}

}  // namespace krux::certify
