// YAML files as the host accepts them: one document of plain mappings, sequences and scalars. Anchors, aliases, tags,
// repeated keys, deep nesting and large files are refused, so that a small file cannot become a large structure and
// nothing in it is silently dropped.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap } kind = Kind::kNull;
  std::string text;             ///< of a scalar
  bool quoted = false;          ///< "20" in quotes is text, 20 is a number
  int line = 1, column = 1;     ///< from 1
  std::vector<YamlNode> keys;   ///< of a map: keys[i] is a scalar and belongs to items[i]
  std::vector<YamlNode> items;  ///< of a map or a sequence
};

/// Throws ConfigError "`name`:line:column: ...". An empty text is a null node.
YamlNode parse_yaml(std::string_view text, const std::string& name);

/// Whom a file's content may be from.
enum class Writers {
  kAnybody,
  kTrusted,  ///< nobody but root and the user of this process could write the file (owner_problem())
};

/// Throws ConfigError: missing, not a file, not readable, larger than 1 MiB, written by others than it may be.
std::string read_text_file(const std::filesystem::path& file, Writers writers = Writers::kAnybody);

}  // namespace krux
