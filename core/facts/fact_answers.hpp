// What the files of the fact book share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/facts/outgoing.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/state/text_values.hpp"

namespace krux {

inline FactAnswer yes(std::string because) {
  return {Truth::kYes, std::move(because)};
}
inline FactAnswer no() {
  return {Truth::kNo, {}};
}
inline FactAnswer not_known(std::string because) {
  return {Truth::kNotKnown, std::move(because)};
}

inline constexpr const char* kUnreadable = "A recipient cannot be read as an address.";

/// In small letters, each once; nullopt: one cannot be read, or there are more than `most`.
std::optional<std::vector<std::string>> recipients_of(const FactQuestion& question, std::size_t most);

/// nullptr: it is not connected.
ActiveAccountPtr account_of(const AccountDirectory& accounts, const FactContext& about);

/// What can be told apart in it, of that kind; where it has more values than are looked at, `cut` says that.
std::vector<TextValue> values_of(Outgoing& sent, ValueKind kind);

/// Where nothing was found.
FactAnswer nothing_in(const Outgoing& sent);

}  // namespace krux
