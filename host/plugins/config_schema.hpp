// An adapter's configuration against the JSON Schema that it declares.
#pragma once

#include <string>
#include <string_view>

namespace krux {

/// Why `schema_json` is of no use as a schema, as a sentence; empty when it is fit. An empty text is fit.
std::string schema_problem(std::string_view schema_json);

/// Why `config_json` does not fit, naming the place and the rule; empty when it fits. An empty schema takes only {}.
std::string config_problem(std::string_view schema_json, std::string_view config_json);

}  // namespace krux
