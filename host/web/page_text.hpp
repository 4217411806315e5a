// Text of agents, services and other people as a page shows it: harmless and bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/json.hpp"

namespace krux::web {

/// A name, a subject: one line.
inline constexpr std::size_t kLineBytes = 300;

/// HTML of a text: markup escaped, control characters and direction overrides made visible, at most `most` bytes of it
/// with "…" behind. `cut`, if given, becomes true where something is missing.
std::string shown(std::string_view text, std::size_t most = kLineBytes, bool* cut = nullptr);
/// The same with its line feeds as they are.
std::string shown_lines(std::string_view text, std::size_t most, bool* cut = nullptr);

/// A JSON value in words: a text as it is, else JSON.
std::string in_words(const JsonValue& value);
/// The same of each member of an object, "to: a@b.example; cc: ...".
std::string members_in_words(const JsonValue& object);

/// HTML of a time: UTC, and how long ago it is; empty for 0.
std::string moment(std::int64_t at_ms, std::int64_t now_ms);

/// "pending_approval" -> "waits for your approval"
std::string state_in_words(std::string_view state);
/// "accept" -> "accepted", of the kinds of decisions that a write's history has.
std::string decision_in_words(std::string_view outcome);

/// "Accepted by ann; one more person is needed.", of a write that several people must accept; else empty.
std::string acceptances(const JsonValue& write);

}  // namespace krux::web
