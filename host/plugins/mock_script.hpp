// A mock's script against the definition of the service that it stands in for.
#pragma once

#include <filesystem>
#include <string>

#include "core/definition/definition.hpp"

namespace krux {

/// Why `script` contradicts the definition: an operation that there is not, a parameter in "when" that it does not
/// take, an answer of a read that is not what it promises. "FILE:LINE: ..."; empty: it fits, or it is none, which the
/// mock says by itself.
std::string mock_script_problem(const std::filesystem::path& script, const ServiceDefinition& definition);

/// The same of a text; `name` stands where the file's name would.
std::string script_text_problem(std::string_view text, const std::string& name, const ServiceDefinition& definition);

}  // namespace krux
