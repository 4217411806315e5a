#include "host/gateway/agent_key.hpp"

#include <algorithm>
#include <cctype>

#include "core/sign_in/sign_in.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::optional<std::string_view> key_of(std::string_view text) {
  const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  return text.size() == 64 && std::all_of(text.begin(), text.end(), is_hex) ? std::optional(text) : std::nullopt;
}

/// A key needs no escapes, and who names two has none.
std::optional<std::string_view> token_of(std::string_view query) {
  constexpr std::string_view name = "token=";
  std::optional<std::string_view> found;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (!pair.starts_with(name)) continue;
    if (found) return std::nullopt;
    found = pair.substr(name.size());
  }
  return found ? key_of(*found) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> agent_key(const ServerRequest& request, KeyInAddress in_address) {
  constexpr std::string_view scheme = "bearer ";
  const auto header = request.header("authorization");
  if (!header) return in_address == KeyInAddress::kTaken ? token_of(request.query) : std::nullopt;
  if (!equal_ignoring_case(header->substr(0, scheme.size()), scheme)) return std::nullopt;
  const auto shown = header->substr(scheme.size());
  return is_access_token(shown) ? std::optional(shown) : key_of(shown);
}

}  // namespace krux
