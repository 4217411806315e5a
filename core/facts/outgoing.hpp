// What a write sends: its texts, and what of them shows by its form alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/state/text_values.hpp"
#include "core/util/json.hpp"

namespace krux {

/// Texts, one a line, in plain characters (`undisguised()`); behind them what stands there in Base64 and is text, and
/// what HTML's character references show. Whole as far as `kMostOutgoing` bytes go.
struct Outgoing {
  std::string text;
  bool cut = false;
  bool absent = false;  ///< what it passes on is not all there to be looked at
};
inline constexpr std::size_t kMostOutgoing = 256 * 1024;
/// Those of the parameters, but of those that say whom it reaches; ids of what it is about first. Without and with what
/// is encoded in them.
Outgoing parameter_texts(const CapabilityDefinition& capability, const JsonValue& params);
Outgoing outgoing_texts(const CapabilityDefinition& capability, const JsonValue& params);
/// One more.
void add_text(Outgoing& out, std::string_view text);
/// What is encoded in the texts so far.
void add_hidden(Outgoing& out);

/// What a key, a password, a one-time code or a link that resets one looks like: the first of it in words ("a private
/// key"), or an empty text. It is never the secret itself.
std::string secret_in(std::string_view text);

}  // namespace krux
