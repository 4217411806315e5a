// `correspondence` of a definition: where the replica shows whom an account has written to, and who wrote to it.
#pragma once

#include "core/definition/definition.hpp"

namespace krux {

class YamlValue;

/// Throws ConfigError with the place. Whether the adapter has such a collection shows when it is asked.
CorrespondenceDefinition parse_correspondence(const YamlValue& value);

}  // namespace krux
