#include <fmt/format.h>

#include <algorithm>

#include <kruxos/abi.h>

#include "core/util/json.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"
#include "host/certify/certify.hpp"

namespace krux::certify {
namespace {

constexpr int kFormat = 1;  ///< of the certificate

const char* word(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return "ok";
    case CheckOutcome::kFailed:
      return "FAILED";
    case CheckOutcome::kNotChecked:
      return "not checked";
    case CheckOutcome::kNotApplicable:
      return "-";
  }
  return "-";
}

std::string name_of(const CheckResult& check) {
  return check.subject.empty() ? check.id : fmt::format("{} {}", check.id, check.subject);
}

std::string failed_text(const CheckResult& check) {
  std::string out;
  for (const auto& [label, text] : {std::pair<const char*, const std::string&>{"did", check.did},
                                    {"expected", check.expected},
                                    {"happened", check.happened},
                                    {"hint", check.hint}}) {
    if (!text.empty()) out += fmt::format("                {:<9} {}\n", label, printable(text));
  }
  return out;
}

void put_counts(JsonWriter& out, const CertifyReport& report) {
  out.Key("counts");
  out.StartObject();
  for (const auto outcome :
       {CheckOutcome::kPassed, CheckOutcome::kFailed, CheckOutcome::kNotChecked, CheckOutcome::kNotApplicable}) {
    out.Key(to_string(outcome));
    out.Uint64(report.count(outcome));
  }
  out.EndObject();
}

void put_adapter(JsonWriter& out, const CertifyReport& report) {
  put(out, "service", report.manifest.service);
  put(out, "version", report.manifest.version);
  out.Key("abi");
  out.StartObject();
  out.Key("major");
  out.Int(KRUX_ABI_MAJOR);
  out.Key("minor");
  out.Int(KRUX_ABI_MINOR);
  out.EndObject();
  put(out, "host_version", KRUXOS_VERSION);
  put(out, "date", format_time(report.began_ms));
  out.Key("hashes");
  out.StartObject();
  put(out, report.manifest.library.c_str(), report.library_sha256);
  put(out, report.manifest.definition.c_str(), report.definition_sha256);
  put(out, report.manifest.file.filename().c_str(), report.manifest_sha256);
  if (!report.manifest.policy.empty()) put(out, report.manifest.policy.c_str(), report.policy_sha256);
  out.EndObject();
}

void put_check(JsonWriter& out, const CheckResult& check, bool in_full) {
  out.StartObject();
  put(out, "id", check.id);
  if (!check.subject.empty()) put(out, "subject", check.subject);
  put(out, "title", check.title);
  put(out, "outcome", to_string(check.outcome));
  if (!check.happened.empty()) put(out, "happened", check.happened);
  if (in_full) {
    put(out, "did", check.did);
    put(out, "expected", check.expected);
    put(out, "hint", check.hint);
    out.Key("ms");
    out.Int64(check.ms);
  }
  out.EndObject();
}

void put_checks(JsonWriter& out, const CertifyReport& report, bool in_full) {
  out.Key("checks");
  out.StartArray();
  for (const auto& check : report.checks) put_check(out, check, in_full);
  out.EndArray();
}

}  // namespace

std::string report_text(const CertifyReport& report) {
  std::size_t width = 0;
  for (const auto& check : report.checks) width = std::max(width, name_of(check).size());
  std::string out = fmt::format("{} {}, {} (SHA-256 {}...)\n", report.manifest.service, report.manifest.version,
                                printable(report.manifest.library), report.library_sha256.substr(0, 12));
  for (const auto& check : report.checks) {
    out += fmt::format("  {:<12}  {:<{}}  {}", word(check.outcome), name_of(check), width, check.title);
    const bool skipped = check.outcome == CheckOutcome::kNotChecked || check.outcome == CheckOutcome::kNotApplicable;
    if (skipped) out += fmt::format(": because {}", printable(check.happened));
    if (check.outcome == CheckOutcome::kPassed && !check.happened.empty())
      out += fmt::format(". {}", printable(check.happened));
    out += '\n';
    if (check.outcome == CheckOutcome::kFailed) out += failed_text(check);
  }
  return out + fmt::format("{} passed, {} failed, {} not checked, {} do not apply, in {}.{} s.\n",
                           report.count(CheckOutcome::kPassed), report.count(CheckOutcome::kFailed),
                           report.count(CheckOutcome::kNotChecked), report.count(CheckOutcome::kNotApplicable),
                           report.took_ms / 1000, report.took_ms % 1000 / 100);
}

std::string report_json(const CertifyReport& report) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  put_adapter(out, report);
  out.Key("passed");
  out.Bool(report.passed());
  out.Key("whole");
  out.Bool(report.whole);
  out.Key("took_ms");
  out.Int64(report.took_ms);
  put_counts(out, report);
  put_checks(out, report, true);
  out.EndObject();
  return buffer.GetString();
}

std::string certificate_json(const CertifyReport& report) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  out.Key("certificate");
  out.Int(kFormat);
  put_adapter(out, report);
  put_counts(out, report);
  put_checks(out, report, false);
  out.EndObject();
  return buffer.GetString();
}

std::filesystem::path write_certificate(const CertifyReport& report, const std::filesystem::path& output) {
  const auto file = output.empty() ? report.manifest.directory / "certificate.json" : output;
  if (report.passed() && report.whole) {
    write_file_atomically(std::filesystem::absolute(file), certificate_json(report) + "\n", 0644);
    return file;
  }
  // What an earlier run has certified is no longer so; a run of some checks alone says nothing about it.
  std::error_code ignored;
  if (!report.passed()) std::filesystem::remove(file, ignored);
  return {};
}

std::string list_text() {
  std::size_t width = 0;
  for (const auto& check : all_checks()) width = std::max(width, std::string_view(check.id).size());
  std::string out;
  for (const auto& check : all_checks()) out += fmt::format("{:<{}}  {}\n", check.id, width, check.title);
  return out;
}

std::string list_json() {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  out.Key("checks");
  out.StartArray();
  for (const auto& check : all_checks()) {
    out.StartObject();
    put(out, "id", check.id);
    put(out, "title", check.title);
    put(out, "did", check.did);
    put(out, "expected", check.expected);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return buffer.GetString();
}

}  // namespace krux::certify
