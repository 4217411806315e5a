#include "core/util/seen_keys.hpp"

namespace krux {
namespace {

constexpr std::size_t kFew = 24;

}  // namespace

void SeenKeys::close() {
  keys_.resize(objects_.back().first_key);
  text_.resize(objects_.back().first_byte);
  objects_.pop_back();
}

std::size_t SeenKeys::count() const {
  const auto& object = objects_.back();
  return object.many.empty() ? keys_.size() - object.first_key : object.many.size();
}

bool SeenKeys::add(std::string_view key) {
  auto& object = objects_.back();
  if (!object.many.empty()) return object.many.emplace(key).second;
  for (std::size_t i = object.first_key; i < keys_.size(); ++i) {
    if (text_of(keys_[i]) == key) return false;
  }
  if (keys_.size() - object.first_key < kFew) {
    keys_.push_back({text_.size(), key.size()});
    text_ += key;
    return true;
  }
  for (std::size_t i = object.first_key; i < keys_.size(); ++i) object.many.emplace(text_of(keys_[i]));
  return object.many.emplace(key).second;
}

}  // namespace krux
