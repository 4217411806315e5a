// {port}, {n}, {result.id}: what is filled into the requests and parameters of a bundle's manifest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// A placeholder is a name of letters, digits, '_' and '.' between braces; every other brace is itself.
std::vector<std::string> placeholders_in(std::string_view text);

/// Replaces each placeholder by what `value` gives for its name; those that it gives nothing for stay.
std::string fill_placeholders(std::string_view text,
                              const std::function<std::optional<std::string>(std::string_view name)>& value);

/// Whether the kit knows it: port, token, n, write_id, and before.X, params.X, result.X.
bool is_known_placeholder(std::string_view name);

}  // namespace krux
