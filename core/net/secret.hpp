// Bytes that must not outlive their use: tokens, and requests that carry them.
#pragma once

#include <sodium.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace krux {

/// Wipes memory before it goes back, also when a vector grows.
template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    sodium_memzero(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) { return true; }
};

/// A vector and not a string: a short string lives inside its object, where no allocator sees it end.
using SecretBytes = std::vector<char, WipingAllocator<char>>;

inline SecretBytes make_secret(std::string_view text) {
  return {text.begin(), text.end()};
}
inline std::string_view as_view(const SecretBytes& bytes) {
  return {bytes.data(), bytes.size()};
}
inline void append(SecretBytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

}  // namespace krux
