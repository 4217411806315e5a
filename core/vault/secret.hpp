// Credentials in memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace krux {

/// A string whose memory is locked where the system allows it, and wiped when it goes. Not printable, not copyable.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view text);
  /// `size` bytes to be filled through bytes().
  explicit Secret(std::size_t size);
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  std::string_view reveal() const { return {bytes_, size_}; }
  bool empty() const { return size_ == 0; }
  char* bytes() { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  void wipe() noexcept;
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// For tests: called with a secret's memory after it was wiped and before it is freed. nullptr: nobody.
void observe_wiped_secrets(void (*observer)(const char* bytes, std::size_t size));

}  // namespace krux
