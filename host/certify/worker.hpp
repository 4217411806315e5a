// The kit's other half: the process that runs the adapter's code.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/certify/check.hpp"

namespace krux::certify {

/// What the kit tells a worker on its standard input.
struct WorkerOrder {
  std::filesystem::path manifest, scratch;
  std::uint16_t port = 0;
  std::string token;
  std::vector<CheckTask> tasks;
};

std::string to_json(const WorkerOrder& order);
WorkerOrder read_order(std::string_view json);  ///< throws krux::Error

/// What a worker says, one JSON object a line: a check begins, has ended, or the token was seen; or it cannot work.
struct WorkerLine {
  enum class Kind { kBegins, kEnded, kLeak, kCannot } kind = Kind::kCannot;
  CheckResult check;  ///< of kBegins only id and subject
  std::string text;   ///< where it was seen; why it cannot
};

std::string to_json(const WorkerLine& line);
WorkerLine read_line(std::string_view json);  ///< throws krux::Error

/// Runs the order's checks one after the other and ends the process with the first that fails: what a failed check
/// leaves behind must not disturb the next one. Lines go to the descriptor `out`.
[[noreturn]] void run_worker(const WorkerOrder& order, int out);

}  // namespace krux::certify
