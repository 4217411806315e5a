// The conformance kit: runs a third-party adapter against its author's fake service, with faults between them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/bundle/manifest.hpp"
#include "host/certify/check.hpp"

namespace krux::certify {

struct CertifyOptions {
  std::filesystem::path bundle;                       ///< the manifest, or the directory that holds it
  std::vector<std::string> only;                      ///< ids of checks, or what stands before their dot; empty: all
  std::int64_t time_limit_ms = 5 * 60'000;            ///< of all, real time
  std::int64_t check_limit_ms = 90'000;               ///< of one check
  std::filesystem::path worker, probe;                ///< programs; empty: find_helper()
  std::function<void(const CheckResult&)> on_result;  ///< as they come
};

struct CertifyReport {
  BundleManifest manifest;
  std::string library_sha256, definition_sha256, manifest_sha256, policy_sha256;
  std::vector<CheckResult> checks;
  bool whole = false;  ///< every check was made, none left out by `only`, and there was a fake service
  std::int64_t began_ms = 0, took_ms = 0;

  std::size_t count(CheckOutcome outcome) const;
  bool passed() const { return count(CheckOutcome::kFailed) == 0; }
};

/// Blocks. Throws ConfigError: the manifest cannot be used, or `only` names no check. A failed check is no exception.
/// From one thread, which outlives what it starts.
CertifyReport certify(const CertifyOptions& options);

/// For terminals: aligned, and nothing of the adapter's or the service's text unescaped.
std::string report_text(const CertifyReport& report);
std::string report_json(const CertifyReport& report);
/// Of a whole report that has passed.
std::string certificate_json(const CertifyReport& report);
/// Writes it to `output`, or, where that is empty, to certificate.json beside the manifest; removes one that is there
/// when the report has not passed whole. Returns the file's name where it was written. Throws krux::Error.
std::filesystem::path write_certificate(const CertifyReport& report, const std::filesystem::path& output);
/// All checks with their titles.
std::string list_text();
std::string list_json();

}  // namespace krux::certify
