#include "host/plugins/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "host/plugins/config_schema.hpp"
#include "host/plugins/elf_inspect.hpp"
#include "host/plugins/mock_script.hpp"

namespace krux {
namespace {

using Outcome = PluginCheck::Outcome;

/// Runs the checks one after the other until one fails; the rest are listed as skipped.
class Inspection {
 public:
  Inspection(PluginReport& report, const InspectOptions& options) : report_(report), options_(options) {}

  void run() {
    check("directory", [this](auto& detail) { return directory(detail); });
    check("file", [this](auto& detail) { return file(detail); });
    check("ELF library", [this](auto& detail) { return elf(detail); });
    check("entry symbol", [this](auto& detail) { return entry_symbol(detail); });
    check("one export", [this](auto& detail) { return one_export(detail); });
    check("loads in a process of its own", [this](auto& detail) { return probe(detail); });
    check("description", [this](auto& detail) { return description(detail); });
    check("role tables", [this](auto& detail) { return role_tables(detail); });
    check("definition", [this](auto& detail) { return definition(detail); });
  }

 private:
  template <class Check>
  void check(std::string name, Check body) {
    PluginCheck done{std::move(name), Outcome::kSkipped, "Skipped: an earlier check failed."};
    if (!failed_) {
      done.detail.clear();
      done.outcome = body(done.detail);
      failed_ = done.outcome == Outcome::kFailed;
    }
    report_.checks.push_back(std::move(done));
  }

  Outcome directory(std::string& detail) {
    detail = directory_problem(report_.file.parent_path());
    if (!detail.empty()) return Outcome::kFailed;
    detail = "Only root and this user can write it.";
    return Outcome::kPassed;
  }

  Outcome file(std::string& detail) {
    auto opened = open_plugin_file(report_.file);
    detail = opened.problem;
    if (!detail.empty()) return Outcome::kFailed;
    report_.sha256 = opened.sha256;
    report_.identity = opened.identity;
    if (!options_.sha256.empty() && options_.sha256 != opened.sha256) {
      detail = fmt::format("Its SHA-256 is {}, not {}.", opened.sha256, options_.sha256);
      return Outcome::kFailed;
    }
    file_bytes_ = std::move(opened.bytes);
    detail = fmt::format("{} bytes, SHA-256 {}.", file_bytes_.size(), report_.sha256);
    return Outcome::kPassed;
  }

  Outcome elf(std::string& detail) {
    elf_ = inspect_elf(file_bytes_);
    detail = elf_.problem;
    if (!detail.empty()) return Outcome::kFailed;
    detail = "A shared library for this processor.";
    return Outcome::kPassed;
  }

  Outcome entry_symbol(std::string& detail) {
    const auto mine =
        std::find_if(elf_.entries.begin(), elf_.entries.end(), [](const auto& e) { return e.name == kEntrySymbol; });
    if (mine != elf_.entries.end()) {
      detail = mine->is_object ? fmt::format("It exports {}.", kEntrySymbol)
                               : fmt::format("Its symbol {} is not a table.", kEntrySymbol);
      report_.entry_bytes = mine->size;
      return mine->is_object ? Outcome::kPassed : Outcome::kFailed;
    }
    if (elf_.entries.empty()) {
      detail = fmt::format("It is not an adapter: it exports no {}.", kEntrySymbol);
    } else {
      detail = fmt::format("It is built for {}, this host speaks {}; build it again with this host's plugin API.",
                           elf_.entries.front().name, kEntrySymbol);
    }
    return Outcome::kFailed;
  }

  /// Other exports do no harm to a library loaded RTLD_LOCAL, so that they refuse nothing; `kruxos plugin verify` shows
  /// them.
  Outcome one_export(std::string& detail) {
    if (elf_.other_count == 0) {
      detail = "It exports nothing else.";
    } else {
      detail = fmt::format("It also exports {} other symbols ({}, ...); build it with kruxos_add_plugin().",
                           elf_.other_count, elf_.others.front());
      return Outcome::kWarned;
    }
    return Outcome::kPassed;
  }

  Outcome probe(std::string& detail) {
    auto result = probe_plugin(report_.file, options_.probe);
    detail = result.problem;
    if (!detail.empty()) return Outcome::kFailed;
    report_.entry = std::move(result.entry);
    report_.describe_json = std::move(result.describe_json);
    tables_ = std::move(result.tables);
    detail = fmt::format("Service {}, prefix {}, version {}, ABI {}.{}.", report_.entry.service, report_.entry.prefix,
                         report_.entry.version, KRUX_ABI_MAJOR, report_.entry.abi_minor);
    for (const auto& part : result.unconfined) detail += " Its process was not confined: " + part;
    return Outcome::kPassed;
  }

  Outcome description(std::string& detail) {
    try {
      const auto whole = parse_json(report_.describe_json, "the adapter's description");
      if (const auto* schema = find_member(whole, "config_schema")) report_.config_schema_json = to_json(*schema);
      report_.acts_by_http = find_bool(whole, "acts_by_http").value_or(true);
      report_.mock = find_bool(whole, "mock").value_or(false);
      report_.collections = parse_collections(report_.describe_json);
      detail = schema_problem(report_.config_schema_json);
    } catch (const std::exception& e) {
      detail = fmt::format("Its description is unfit: {}", e.what());
    }
    if (!detail.empty()) return Outcome::kFailed;
    detail = fmt::format("{} collections.", report_.collections.size());
    return Outcome::kPassed;
  }

  Outcome role_tables(std::string& detail) {
    report_.roles = tables_.roles;
    detail = tables_.problem;
    if (!detail.empty()) return Outcome::kFailed;
    if (!tables_.roles) {
      detail = "Skipped: " + tables_.unknown;
      return Outcome::kSkipped;
    }
    for_each_role([&](auto role) {
      if ((*tables_.roles).*role.kHas) detail += (detail.empty() ? "In order: " : ", ") + std::string(role.kName);
    });
    detail += detail.empty() ? "It has no role." : ".";
    return Outcome::kPassed;
  }

  Outcome definition(std::string& detail) {
    if (!options_.definitions) {
      detail = "Skipped: no definitions were given.";
      return Outcome::kSkipped;
    }
    const auto& entry = report_.entry;
    std::string why;
    const auto definition = options_.definitions->find(entry.service, why);
    if (!definition) {
      detail = fmt::format("The service {} has no fit definition: {}", entry.service, why);
      return Outcome::kFailed;
    }
    detail = definition_problem(*definition, entry);
    if (detail.empty() && report_.mock)
      detail = mock_script_problem(std::filesystem::path(report_.file).replace_extension(".mock.json"), *definition);
    if (!detail.empty()) return Outcome::kFailed;
    detail = fmt::format("Fits the definition of {}, version {}.", definition->service, definition->version);
    const auto missing = report_.roles ? missing_role(*definition, *report_.roles) : std::string();
    if (missing.empty()) return Outcome::kPassed;
    detail += " " + missing;
    return Outcome::kWarned;
  }

  static std::string definition_problem(const ServiceDefinition& definition, const EntryInfo& entry) {
    if (definition.service != entry.service) {
      return fmt::format("Its definition is for the service {}, it serves {}.", definition.service, entry.service);
    }
    if (definition.prefix != entry.prefix) {
      return fmt::format("Its definition says prefix {}, it says {}.", definition.prefix, entry.prefix);
    }
    const auto version = parse_version(entry.version);
    const auto from = parse_version(definition.adapter_min_version);
    const auto below = parse_version(definition.adapter_max_version);
    if ((from && *version < *from) || (below && *version >= *below)) {
      return fmt::format("Its definition takes versions from {} to below {}, it is {}.",
                         from ? definition.adapter_min_version : "any", below ? definition.adapter_max_version : "any",
                         entry.version);
    }
    return {};
  }

  /// What no call can be answered without, as a sentence.
  static std::string missing_role(const ServiceDefinition& definition, const AdapterRoles& roles) {
    const auto lacks = [](const char* iid, const std::string& capability, const char* what) {
      return fmt::format("Its table {} is NULL, although the definition {} {}.", iid, what, capability);
    };
    for (const auto& capability : definition.capabilities) {
      const auto& name = capability.name;
      if (capability.kind == CapabilityKind::kRead && !roles.read)
        return lacks(KRUX_IID_READ_ADAPTER, name, "has the read");
      if (capability.kind != CapabilityKind::kWrite) continue;
      if (!roles.write) return lacks(KRUX_IID_WRITE_EXECUTOR, name, "has the write");
      if (capability.undoable && !roles.rollback) return lacks(KRUX_IID_ROLLBACK_CAPABLE, name, "undoes");
      if (capability.cleanup && !roles.cleanup) return lacks(KRUX_IID_CLEANUP, name, "cleans up after");
    }
    return {};
  }

  PluginReport& report_;
  const InspectOptions& options_;
  TableCheck tables_;
  std::string file_bytes_;
  ElfReport elf_;
  bool failed_ = false;
};

}  // namespace

std::shared_ptr<const ServiceDefinition> DefinitionSetIndex::find(const std::string& service, std::string& why) const {
  auto definition = set_.find(service);
  if (definition) return definition;
  why = fmt::format("there is no {}.yaml among the definitions.", service);
  for (const auto& problem : set_.problems()) {
    if (problem.file.stem() == service || problem.file == set_.directory()) why = problem.reason;
  }
  return nullptr;
}

bool PluginReport::passed() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const auto& check) { return check.outcome == Outcome::kFailed; });
}

std::string PluginReport::first_failure() const {
  for (const auto& check : checks) {
    if (check.outcome == Outcome::kFailed) return check.detail;
  }
  return {};
}

PluginReport inspect_plugin(const std::filesystem::path& file, const InspectOptions& options) {
  PluginReport report;
  report.file = file;
  Inspection(report, options).run();
  return report;
}

}  // namespace krux
