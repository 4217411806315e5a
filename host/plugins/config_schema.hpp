// An adapter's configuration against the JSON Schema that it declares. The schema is its author's word, so only such
// rules of JSON Schema draft 4 are taken as cost the host little whatever they say: docs/adapter-guide.md lists them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krux {

/// Why `schema_json` is of no use as a schema, as a sentence; empty when it is fit. An empty text is fit. What is no
/// rule of draft 4 (a title, an example) is passed over.
std::string schema_problem(std::string_view schema_json);

struct ConfigProblem {
  std::string key;       ///< the setting's name, of the topmost level; empty: it is about all of them
  std::string sentence;  ///< what is wrong with it and what is taken, in words
};
/// Nothing where `config_json` fits. An empty schema takes only {}.
std::optional<ConfigProblem> find_config_problem(std::string_view schema_json, std::string_view config_json);

/// The same as one sentence, with the setting's name before it; empty when it fits.
std::string config_problem(std::string_view schema_json, std::string_view config_json);

}  // namespace krux
