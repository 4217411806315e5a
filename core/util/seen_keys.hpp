// Whether a key of a JSON object stands twice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/util/keyed_hash.hpp"

namespace krux {

/// The keys of the objects that are open, one within the other. Most objects have few keys, which are compared one by
/// one; of wide ones a hash table is made.
class SeenKeys {
 public:
  void open() { objects_.push_back({keys_.size(), text_.size(), {}}); }
  void close();
  /// Into the innermost object; false when it is there already. Only between open() and close().
  bool add(std::string_view key);
  /// Of the innermost object.
  std::size_t count() const;

 private:
  struct Key {
    std::size_t begin, size;  ///< in text_
  };
  struct Object {
    std::size_t first_key, first_byte;
    std::unordered_set<std::string, KeyedHash> many;  ///< all keys, once they are many
  };
  std::string_view text_of(const Key& key) const { return std::string_view(text_).substr(key.begin, key.size); }

  std::string text_;
  std::vector<Key> keys_;
  std::vector<Object> objects_;
};

}  // namespace krux
