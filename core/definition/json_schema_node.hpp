// A schema within a JsonSchema. Internal to it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/definition/json_schema.hpp"

namespace krux {

struct JsonSchema::Node {
  using List = std::vector<const Node*>;
  bool never = false;  ///< `false`: fits nothing
  std::vector<std::string> types;
  std::vector<std::pair<std::string, const Node*>> properties;
  std::vector<std::string> required;
  std::vector<std::pair<std::string, std::vector<std::string>>> required_beside;  ///< dependentRequired
  const Node *additional = nullptr, *items = nullptr, *unwanted = nullptr, *ref = nullptr;
  const Node *when = nullptr, *then = nullptr, *otherwise = nullptr;
  List all_of, any_of, one_of;
  std::optional<std::size_t> min_length, max_length, min_items, max_items;
  std::optional<double> minimum, maximum, above, below;
  const JsonValue *values = nullptr, *constant = nullptr;  ///< enum, const

  /// All that its check may go on with.
  List below_it() const;
};

/// Makes the nodes of a document.
class JsonSchemaReader {
 public:
  explicit JsonSchemaReader(JsonSchema& schema) : schema_(schema) {}
  void read();

 private:
  using Node = JsonSchema::Node;
  const Node* node(const JsonValue& value, int depth);
  void take(Node& into, std::string_view keyword, const JsonValue& value, int depth);
  bool take_part(Node& into, std::string_view keyword, const JsonValue& value, int depth);
  bool take_bound(Node& into, std::string_view keyword, const JsonValue& value);
  bool take_names(Node& into, std::string_view keyword, const JsonValue& value);
  Node::List nodes(std::string_view keyword, const JsonValue& value, int depth);
  void name(std::string anchor, const Node* node);
  void resolve();
  std::size_t whole_size(const Node* node, std::vector<std::pair<const Node*, std::size_t>>& known) const;

  JsonSchema& schema_;
  std::vector<std::pair<std::string, const Node*>> named_;  ///< "#/$defs/address", "#address"
  std::vector<std::pair<Node*, std::string>> refs_;
};

}  // namespace krux
