// What is kept of an agent's programs on the disk: that one was begun, how it ended, and what it said.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor.hpp"
#include "workspace/home.hpp"

namespace process {

/// How long it is known of a run that it was begun: longer than any write waits for its outcome.
inline constexpr std::int64_t kKeepMs = 96 * 3'600'000LL;

/// Durable on return: from now on nobody can say that it was never begun.
void begin_record(const workspace::Home& home, const std::string& id, std::int64_t now_ms);
void drop_record(const workspace::Home& home, const std::string& id);
bool was_begun(const workspace::Home& home, const std::string& id);

/// Durable on return. `directory`: a home's `processes`.
void end_record(int directory, const View& view);
std::optional<View> ended(const workspace::Home& home, const std::string& id);
/// The last ones that have ended, the newest first.
std::vector<View> last_ended(const workspace::Home& home, std::size_t most);
/// Forgets how the oldest have ended, and that they were begun once that was kKeepMs ago.
void forget_old(const workspace::Home& home, std::size_t keep, std::int64_t now_ms);

/// One JSON object; of what it said so much of each stream, from there on.
struct Page {
  std::size_t out_from = 0, errors_from = 0, most = 0;
};
std::string json_of(const View& view, const Page& page);
/// Without what it said.
std::string short_json_of(const View& view);

}  // namespace process
