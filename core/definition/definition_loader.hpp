// Reading a service's definition. docs/definitions.md describes the format. Everything is checked before anything is
// used; the first thing that does not fit is refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

/// The newest `schema:` that this program reads.
inline constexpr std::int64_t kDefinitionSchema = 1;

/// Throws ConfigError "file:line:column: what is wrong and what is accepted". The file's name must be <service>.yaml,
/// and nobody but root and the user of this process may be able to write it: it says where tokens are sent.
ServiceDefinition load_definition(const std::filesystem::path& file);

/// `name` stands in the sentences where a file's name would.
ServiceDefinition parse_definition(std::string_view text, const std::string& name);

/// [a-z][a-z0-9_]{0,31}: services, prefixes, inputs.
bool is_plain_name(std::string_view text);
/// "subject", or "from.address".
bool is_member_path(std::string_view text);

}  // namespace krux
