#include "host/test_host/filling.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/bundle/manifest.hpp"
#include "core/bundle/terms.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"
#include "host/bundles/inspect.hpp"
#include "host/bundles/store.hpp"
#include "host/plugins/probe.hpp"
#include "host/test_host/configuration.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;
using Kind = TestedService::Kind;

constexpr std::uintmax_t kLargestScript = 16 << 20, kLargestText = 1 << 20, kLargestLibrary = std::uintmax_t{256} << 20;

/// Where the product is installed, seen from this program.
fs::path prefix() {
  std::error_code error;
  const auto above = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  return above.filename() == "libexec" ? above.parent_path() : above;
}

std::string content_of(const fs::path& file, std::uintmax_t largest) {
  auto read = read_checked_file(file, largest, FileWriters::kAnybody);
  if (!read.problem.empty()) throw ConfigError(fmt::format("{}: {}", printable(file.string()), read.problem));
  return std::move(read.bytes);
}

/// Whoever may write the original: the copy belongs to this user alone.
void copy(const fs::path& from, const fs::path& to, std::uintmax_t largest) {
  write_file_atomically(to, content_of(from, largest));
}

class Filling {
 public:
  Filling(const fs::path& root, const cli::TestHostOptions& options)
      : root_(root),
        options_(options),
        definitions_(options.definitions.empty() ? prefix() / "share/kruxos/definitions"
                                                 : fs::path(options.definitions)),
        mock_(options.mock.empty() ? prefix() / "lib/kruxos/testing/mock.so" : fs::path(options.mock)) {}

  std::vector<TestedService> run() {
    for (const auto* name : {"adapters", "definitions", "policies"}) fs::create_directory(root_ / name);
    copy_policies();
    for (const auto& named : options_.adapters) {
      std::error_code error;
      if (!fs::is_directory(named, error)) continue;
      const auto manifest = load_manifest(named);
      if (!bundles_.emplace(manifest.service, manifest).second) refuse_twice(manifest.service);
    }
    for (const auto& named : options_.adapters) take(named);
    for (const auto& [service, manifest] : bundles_) {
      if (std::none_of(services_.begin(), services_.end(), is_of(service))) install(manifest);
    }
    give_tokens();
    return std::move(services_);
  }

 private:
  static std::function<bool(const TestedService&)> is_of(const std::string& service) {
    return [service](const TestedService& one) { return one.definition->service == service; };
  }
  [[noreturn]] static void refuse_twice(const std::string& service) {
    throw ConfigError(fmt::format("{} is named twice: one adapter serves it.", printable(service)));
  }

  void take(const std::string& named) {
    std::error_code error;
    if (fs::is_directory(named, error)) return;  // once it is known which of them have mocks
    if (named.ends_with(".json")) {
      take_mock(content_of(named, kLargestScript), named);
    } else if (named.ends_with(".so")) {
      take_adapter(named);
    } else if (is_plain_name(named)) {
      take_mock(fmt::format("{{\"service\":{}}}", json_string(named)), named);
    } else {
      throw ConfigError(fmt::format(
          "\"{}\" is no service's name, no mock's script (.json), no adapter (.so) and no bundle's directory.",
          printable(named)));
    }
  }

  void add(TestedService service) {
    if (std::any_of(services_.begin(), services_.end(), is_of(service.definition->service)))
      refuse_twice(service.definition->service);
    services_.push_back(std::move(service));
  }

  void take_mock(const std::string& script, const std::string& named) {
    auto document = parse_json(script, named, {.max_bytes = kLargestScript, .max_depth = 64});
    const auto service = std::string(find_string(document, "service").value_or(""));
    if (!is_plain_name(service))
      throw ConfigError(fmt::format("{}: it is no mock's script: its \"service\" is missing, or no service's name.",
                                    printable(named)));
    TestedService mock{Kind::kMock, definition_behind_mock(service), root_ / "adapters" / (service + ".mock.json"),
                       find_member(document, "records") != nullptr, ""};
    if (!find_member(document, "version")) {
      const auto& version = mock.definition->adapter_min_version;
      document.AddMember("version", JsonValue(version.c_str(), document.GetAllocator()), document.GetAllocator());
    }
    if (!find_member(document, "prefix"))
      document.AddMember("prefix", JsonValue(mock.definition->prefix.c_str(), document.GetAllocator()),
                         document.GetAllocator());
    add(mock);
    copy(mock_, root_ / "adapters" / (service + ".so"), kLargestLibrary);
    write_file_atomically(mock.script, to_json(document));
  }

  /// A bundle's, where one was named, with its policy.
  std::shared_ptr<const ServiceDefinition> definition_behind_mock(const std::string& service) {
    const auto bundle = bundles_.find(service);
    if (bundle == bundles_.end()) return take_definition(definitions_ / (service + ".yaml"), service);
    const auto& manifest = bundle->second;
    if (!manifest.policy.empty()) {
      const auto policy = root_ / "policies" / (service + ".yaml");
      if (fs::exists(policy))
        throw ConfigError(
            fmt::format("The bundle of {0} has a policy, and so has --policies: with a mock in the "
                        "bundle's place one of them can be in force. Take {0}.yaml out of --policies.",
                        service));
      copy(manifest.directory / manifest.policy, policy, kLargestText);
    }
    return take_definition(manifest.directory / manifest.definition, service);
  }

  std::shared_ptr<const ServiceDefinition> take_definition(const fs::path& file, const std::string& service) {
    std::error_code error;
    if (!fs::exists(file, error))
      throw ConfigError(
          fmt::format("There is no definition of {}: {} is not there. Name another directory with "
                      "--definitions.",
                      printable(service), printable(file.string())));
    const auto own = root_ / "definitions" / (service + ".yaml");
    copy(file, own, kLargestText);
    return std::make_shared<const ServiceDefinition>(load_definition(own));
  }

  /// With the files beside it that are named as it is: a mock's script, a wrapped server's tools. A definition beside
  /// it goes before the installed one.
  void take_adapter(const fs::path& file) {
    const auto own = root_ / "adapters" / file.filename();
    copy(file, own, kLargestLibrary);
    const auto beginning = file.stem().string() + ".";
    const auto around = file.has_parent_path() ? file.parent_path() : fs::path(".");
    for (const auto& beside : fs::directory_iterator(around)) {
      const auto name = beside.path().filename().string();
      if (name.starts_with(beginning) && name.ends_with(".json"))
        copy(beside.path(), root_ / "adapters" / name, kLargestScript);
    }
    ProbeOptions probe;
    probe.confinement.required = false;  // as in a plugins directory
    const auto loaded = probe_plugin(own, probe);
    if (!loaded.problem.empty())
      throw ConfigError(fmt::format("{}: {}", printable(file.string()), printable(loaded.problem)));
    const auto& service = loaded.entry.service;
    std::error_code error;
    const auto beside = around / (service + ".yaml");
    add({Kind::kAdapter,
         take_definition(fs::exists(beside, error) ? beside : definitions_ / (service + ".yaml"), service), "", false,
         ""});
  }

  /// As `kruxos plugin install` does.
  void install(const BundleManifest& manifest) {
    BundleStore store(root_ / "data", root_ / "data/bundles");
    const auto staged = store.stage(manifest.directory);
    ProbeOptions probe;
    probe.confinement.required = false;  // its author is at the keyboard
    const auto bundle = inspect_bundle(staged, nullptr, probe, manifest.directory);
    const auto& contents = bundle.contents;
    BundlePin pin;
    pin.terms = terms_of(*contents.definition, contents.manifest.version, contents.manifest.hosts);
    pin.files = contents.files;
    pin.library = contents.manifest.library;
    pin.installed_at_ms = SystemClock().wall_ms();
    pin.installed_by = fmt::format("uid {}", ::geteuid());
    store.install(pin);
    add({Kind::kBundle, contents.definition, "", false, ""});
  }

  void copy_policies() {
    if (options_.policies.empty()) return;
    for (const auto& entry : fs::recursive_directory_iterator(options_.policies)) {
      const auto own = root_ / "policies" / entry.path().lexically_relative(options_.policies);
      if (entry.is_directory()) fs::create_directory(own);
      if (entry.is_regular_file()) copy(entry.path(), own, kLargestText);
    }
  }

  /// A mock takes any.
  void give_tokens() {
    for (auto& service : services_) {
      if (service.kind == Kind::kMock && !service.definition->needs_no_token()) service.token = "test-host";
    }
    for (const auto& given : options_.tokens) {
      const auto equals = given.find('=');
      const auto name = given.substr(0, equals);
      const auto service = std::find_if(services_.begin(), services_.end(), is_of(name));
      if (equals == std::string::npos || equals + 1 == given.size() || service == services_.end())
        throw ConfigError(
            fmt::format("--token takes SERVICE=TOKEN, with one of the services that this host serves, "
                        "not \"{}\".",
                        printable(name)));
      service->token = given.substr(equals + 1);
    }
  }

  const fs::path root_;
  const cli::TestHostOptions& options_;
  const fs::path definitions_, mock_;
  std::map<std::string, BundleManifest> bundles_;
  std::vector<TestedService> services_;
};

}  // namespace

const char* to_string(Kind kind) {
  return kind == Kind::kMock ? "mock" : kind == Kind::kAdapter ? "adapter" : "bundle";
}

std::vector<TestedService> fill(const fs::path& directory, const cli::TestHostOptions& options) {
  auto services = Filling(directory, options).run();
  write_file_atomically(directory / "kruxos.yaml", configuration_of(directory, options, services));
  return services;
}

}  // namespace krux
