// What every command works with, and the small change of showing JSON to people.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/bundle/contents.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/time_words.hpp"
#include "host/cli/control_client.hpp"
#include "host/cli/table.hpp"
#include "host/cli/terminal.hpp"

namespace krux::cli {

/// Checks an adapter's file without a host: the report for people and as JSON. May throw std::exception.
struct VerifyReport {
  bool passed = false;
  std::string text, json;
};
using VerifyPlugin =
    std::function<VerifyReport(const std::filesystem::path& file, const std::filesystem::path& definitions)>;

/// What `adapter certify` is asked for.
struct CertifyRequest {
  std::string file, output;
  std::vector<std::string> only;
  std::int64_t time_limit_s = 300;
  bool list = false;
  std::function<void(const std::string&)> progress;  ///< one line, to be replaced by the next
};
using CertifyAdapter = std::function<VerifyReport(const CertifyRequest&)>;

/// A bundle whose files stand in `directory`, as copied from `shown`.
struct BundleQuestion {
  std::filesystem::path directory, shown;
  std::filesystem::path
      definitions;  ///< of the other services, whose places it may not take; empty: the installed ones
};
/// Makes all checks without a host. Throws std::exception with a sentence.
using InspectBundle = std::function<BundleContents(const BundleQuestion&)>;

struct Session {
  Console& console;
  ControlClient host;
  bool json = false;        ///< the host's words instead of tables
  std::int64_t now_ms = 0;  ///< the wall clock, for "3 min ago"
  VerifyPlugin verify;
  CertifyAdapter certify;
  InspectBundle inspect_bundle;
  std::filesystem::path data_dir;  ///< as far as the arguments say; empty: the running host knows

  /// Prints the answer's text when JSON is wanted; then there is nothing more to do.
  bool printed(const HostAnswer& answer) const;
  /// Whether to go on: asked on a terminal, unless `assume_yes`. In a script the command itself is the word.
  bool confirm(const std::string& question, bool assume_yes) const;
};

/// "a, b, c"
std::string joined(const JsonValue& array);

/// When the account's last pass ended, relative(); "not whole yet" while what was read of earlier passes is filled
/// anew.
std::string synced(const JsonValue& account, std::int64_t now_ms);
/// "2026-11-21 09:30:00 UTC (3 min ago)"; empty for 0.
std::string moment(std::int64_t at_ms, std::int64_t now_ms);

}  // namespace krux::cli
