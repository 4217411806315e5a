// The sections `auth`, `accounts` and `http` of a definition.
#pragma once

#include "core/definition/definition.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// All throw ConfigError with file, line and column.
AccountTerms parse_accounts(const YamlValue& value);
/// `accounts`: whose settings it may name.
AuthDefinition parse_auth(const YamlValue& value, const AccountTerms& accounts);
std::vector<SafePost> parse_safe_posts(const YamlValue& value);

}  // namespace krux
