// Whom a write reaches, as rules see it: the domains of addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// One entry for each recipient: its address as it stands in `params`, which it points into, or an empty text where it
/// is no address that can be read: what is not plain ASCII with one "@", what has comments or groups. A text that is
/// not blank has one recipient at least. Of recipients that are texts each parameter is one that cannot be read.
std::vector<std::string_view> recipient_addresses(const CapabilityDefinition& capability, const JsonValue& params);

/// Of an address, or of an empty text.
std::string_view domain_of(std::string_view address);

/// The domains of the same.
std::vector<std::string_view> recipient_domains(const CapabilityDefinition& capability, const JsonValue& params);

/// Whether `domain` is among `set`, where "*.example.com" stands for all below example.com. Whatever the case.
bool is_inside(std::string_view domain, const std::vector<std::string>& set);

/// "example.com", with `wildcard` also "*.example.com"; in small letters.
bool is_domain(std::string_view text, bool wildcard);

}  // namespace krux
