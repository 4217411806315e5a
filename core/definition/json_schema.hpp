// A JSON Schema (2020-12) of keywords that the host checks itself: what it does not check it does not take.
#pragma once

#include <list>
#include <stdexcept>
#include <string>

#include "core/util/json.hpp"

namespace krux {

/// Immutable once it is made; any thread. The time that a check takes is bounded by the schema's size and the value's.
class JsonSchema {
 public:
  /// It cannot be taken: a sentence without a full stop.
  struct Unfit : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  /// `json` is one object. A `$ref` names one of its own `$defs` ("#/$defs/address"), or an `$anchor` ("#address"), and
  /// none leads back to itself. Throws Unfit.
  explicit JsonSchema(const std::string& json);
  ~JsonSchema();
  JsonSchema(const JsonSchema&) = delete;
  JsonSchema& operator=(const JsonSchema&) = delete;

  /// Empty where it fits; otherwise what does not, without a full stop.
  std::string why_not(const JsonValue& value) const;
  /// As it was given.
  const JsonDocument& document() const { return document_; }

 private:
  struct Node;
  friend class JsonSchemaReader;
  friend class JsonSchemaCheck;

  JsonDocument document_;  ///< the nodes point into it
  std::list<Node> nodes_;  ///< the first is the whole
};

}  // namespace krux
