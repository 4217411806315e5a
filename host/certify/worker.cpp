#include "host/certify/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/certify/child_process.hpp"
#include "host/certify/lab.hpp"

namespace krux::certify {
namespace {

/// Of the bundle, whatever else lies in its directory.
class OneDefinition final : public DefinitionIndex {
 public:
  explicit OneDefinition(std::shared_ptr<const ServiceDefinition> definition) : definition_(std::move(definition)) {}
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override {
    if (service == definition_->service) return definition_;
    why = fmt::format("The bundle's definition is of {}.", definition_->service);
    return nullptr;
  }

 private:
  const std::shared_ptr<const ServiceDefinition> definition_;
};

class Worker {
 public:
  Worker(const WorkerOrder& order, int out) : order_(order), out_(out) {}

  /// False: a check has failed, and nothing more may be tried in this process.
  bool run() {
    try {
      set_up();
    } catch (const std::exception& error) {
      return say({WorkerLine::Kind::kCannot, {}, error.what()}), false;
    }
    for (const auto& task : order_.tasks) {
      if (!run_one(task)) return false;
    }
    return true;
  }

 private:
  void set_up() {
    bench_.manifest = load_manifest(order_.manifest);
    if (!bench_.manifest.conformance) throw ConfigError("The manifest has no section conformance.");
    const auto& directory = bench_.manifest.directory;
    bench_.definition =
        std::make_shared<const ServiceDefinition>(load_definition(directory / bench_.manifest.definition));
    const OneDefinition index(bench_.definition);
    InspectOptions options;
    options.probe.confinement.required = false;  // the adapter's author certifies it, on a machine of theirs
    options.definitions = &index;
    registry_ = PluginRegistry::discover(directory, options);
    bench_.registry = &registry_;
    if (!registry_.find(bench_.manifest.service)) throw ConfigError("The host does not load the library.");
    bench_.port = order_.port;
    bench_.token = order_.token;
    bench_.scratch = order_.scratch;
    bench_.transport = make_http_transport({});
    bench_.leak = [this](const std::string& where) {
      const std::lock_guard lock(mutex_);
      if (leaks_.insert(where).second) say_locked({WorkerLine::Kind::kLeak, {}, where});
    };
  }

  bool run_one(const CheckTask& task) {
    WorkerLine line{WorkerLine::Kind::kBegins, {}, {}};
    line.check.id = task.id;
    line.check.subject = task.subject;
    say(line);
    line.kind = WorkerLine::Kind::kEnded;
    const auto* info = find_check(task.id);
    const auto started = steady_ms();
    auto* lab = new Lab(bench_);  // of a failed check it is never freed: threads that are lost may still use it
    try {
      info->run(*lab, task.subject);
      line.check.outcome = CheckOutcome::kPassed;
      line.check.happened = lab->noted();
    } catch (const CheckSkipped& skipped) {
      line.check.outcome = skipped.outcome();
      line.check.happened = skipped.what();
    } catch (const CheckFailed& failed) {
      line.check.happened = failed.what();
      line.check.hint = failed.hint();
    } catch (const std::exception& error) {
      line.check.happened = error.what();
    }
    const bool goes_on = line.check.outcome != CheckOutcome::kFailed;
    if (goes_on) delete lab;
    line.check.ms = steady_ms() - started;
    line.check.happened = printable(line.check.happened);
    say(line);
    return goes_on;
  }

  void say(const WorkerLine& line) {
    const std::lock_guard lock(mutex_);
    say_locked(line);
  }
  void say_locked(const WorkerLine& line) {
    const auto text = to_json(line) + "\n";
    for (std::size_t at = 0; at < text.size();) {
      const auto put = ::write(out_, text.data() + at, text.size() - at);
      if (put <= 0) _exit(3);  // nobody listens any more
      at += static_cast<std::size_t>(put);
    }
  }

  const WorkerOrder& order_;
  const int out_;
  std::mutex mutex_;
  std::set<std::string> leaks_;
  PluginRegistry registry_;
  Bench bench_;
};

}  // namespace

void run_worker(const WorkerOrder& order, int out) {
  auto* worker = new Worker(order, out);  // as with Lab
  worker->run();
  // Without static destructors, which would wait for what an adapter has left behind.
  _exit(0);
}

}  // namespace krux::certify
