// The host's lists of writes, which it gives a page at a time.
#pragma once

#include <optional>
#include <string>

#include "host/cli/session.hpp"

namespace krux::cli {

/// Newest first. What is added while one reads is not met any more. Throws CliError.
class WritePages {
 public:
  static constexpr std::size_t kLargest = 500;

  /// `query` as in "state=dead_letter&service=x"; `at_once`: at most kLargest.
  WritePages(const ControlClient& host, std::string query, std::size_t at_once = kLargest)
      : host_(host), query_(std::move(query)), at_once_(at_once) {}

  /// An answer with at least one of `writes`; nothing behind the last page.
  std::optional<HostAnswer> next();

 private:
  const ControlClient& host_;
  const std::string query_;
  const std::size_t at_once_;
  std::string before_;
  bool over_ = false;
};

/// Adds all of them to an array, but not more than a person and this command's memory can take: false when there are
/// older ones.
bool all_writes(const ControlClient& host, const std::string& query, JsonDocument& into);

/// Says on standard error that older ones are not shown; the code that the command then ends with.
int tell_of_older(const Session& session);

}  // namespace krux::cli
