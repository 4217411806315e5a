#include "host/certify/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "core/definition/definition_loader.hpp"
#include "core/net/http_transport.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/certify/check_run.hpp"
#include "host/certify/fake_service.hpp"
#include "host/certify/scratch_directory.hpp"
#include "host/certify/static_checks.hpp"
#include "host/plugins/probe.hpp"

namespace krux::certify {
namespace {

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
  void add(CheckResult result);
  template <class Body>
  bool make(const char* id, Body&& body);
  CheckTasks tasks() const;
  void run_tasks(const CheckTasks& tasks);
  void sort_results(const CheckTasks& tasks);
  std::unique_ptr<FakeService> make_service(std::size_t place) const;
  void judge_secret();

  const CertifyOptions& options_;
  const std::int64_t until_ms_;
  const ScratchDirectory scratch_;
  const std::filesystem::path worker_program_, probe_;
  CertifyReport report_;
  std::shared_ptr<HttpTransport> transport_;
  std::unique_ptr<FakeService> service_;
  Findings findings_{[this](CheckResult result) { add(std::move(result)); }};
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

/// Every check of the worker for every capability that it is about.
CheckTasks Kit::tasks() const {
  CheckTasks all;
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
    findings_.skip(tasks(), "the library cannot be used as it is, see above");
  } else if (!manifest.conformance) {
    make("service.starts", [] { throw not_checked(kNoSection); });
    findings_.skip(tasks(), kNoSection);
  } else {
    transport_ = make_http_transport({});
    service_ = make_service(0);
    if (make("service.starts", [&] { service_->start(); })) {
      run_tasks(tasks());
    } else {
      findings_.skip(tasks(), "the fake service did not start, see above");
    }
    service_->stop();
  }
  make("secret.token", [&] { judge_secret(); });
  report_.took_ms = steady_ms() - started;
  report_.whole = options_.only.empty() && findings_.any_worker() && !findings_.cut();
  return std::move(report_);
}

/// What is about one write is made with a fake service of its own, beside the other writes: several wait at once for a
/// service that hangs. Everything else comes here, one after the other, with the last check of all at its end.
void Kit::run_tasks(const CheckTasks& tasks) {
  constexpr std::size_t kPlaces = 4;
  CheckTasks here;
  std::vector<CheckTasks> places;
  std::map<std::string, std::size_t> place_of;
  for (const auto& task : tasks) {
    if (find_check(task.id)->scope != CheckScope::kWrite) {
      here.push_back(task);
      continue;
    }
    const auto place = place_of.emplace(task.subject, place_of.size() % kPlaces).first->second;
    places.resize(std::max(places.size(), place + 1));
    places[place].push_back(task);
  }
  const CheckRunParts parts{options_, report_.manifest, worker_program_, scratch_.path(), until_ms_};
  std::vector<std::thread> threads;
  for (const auto& place : places) {
    const auto number = threads.size() + 1;
    threads.emplace_back([this, &parts, &place, number] {
      const auto service = make_service(number);
      CheckRun(parts, findings_, *service, number).run(place);
    });
  }
  CheckRun(parts, findings_, *service_, 0).run(here);
  for (auto& thread : threads) thread.join();
  sort_results(tasks);
}

/// As if they had been made one after the other.
void Kit::sort_results(const CheckTasks& tasks) {
  const auto place = [&](const CheckResult& result) {
    const auto at = std::find_if(tasks.begin(), tasks.end(), [&](const CheckTask& task) {
      return task.id == result.id && task.subject == result.subject;
    });
    return at == tasks.end() ? -1 : at - tasks.begin();  // the kit's own, which came before
  };
  std::stable_sort(report_.checks.begin(), report_.checks.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

std::unique_ptr<FakeService> Kit::make_service(std::size_t place) const {
  const auto& manifest = report_.manifest;
  return std::make_unique<FakeService>(manifest, load_definition(manifest.directory / manifest.definition), transport_,
                                       service_log(scratch_.path(), place));
}

void Kit::judge_secret() {
  if (!findings_.any_worker()) throw not_checked("the adapter was not run");
  const auto leaks = findings_.leaks();
  if (leaks.empty()) return;
  std::string places;
  for (const auto& place : leaks) places += (places.empty() ? "" : ", ") + place;
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
