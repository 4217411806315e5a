#include "core/vault/secret.hpp"

#include <sodium.h>

#include <atomic>
#include <cstring>
#include <new>
#include <utility>

namespace krux {
namespace {

std::atomic<void (*)(const char*, std::size_t)> wiped_observer{nullptr};

}  // namespace

void observe_wiped_secrets(void (*observer)(const char* bytes, std::size_t size)) {
  wiped_observer = observer;
}

Secret::Secret(std::size_t size) : size_(size) {
  if (size == 0) return;
  if (sodium_init() < 0) throw std::bad_alloc();
  // Locked as far as the system's limit allows, with guard pages around it, and kept out of core dumps.
  bytes_ = static_cast<char*>(sodium_malloc(size));
  if (!bytes_) throw std::bad_alloc();
}

Secret::Secret(std::string_view text) : Secret(text.size()) {
  if (bytes_) std::memcpy(bytes_, text.data(), text.size());
}

Secret::~Secret() {
  wipe();
}

Secret::Secret(Secret&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe();
    bytes_ = std::exchange(other.bytes_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Secret::wipe() noexcept {
  if (!bytes_) return;
  sodium_memzero(bytes_, size_);
  if (auto* observer = wiped_observer.load()) observer(bytes_, size_);
  sodium_free(bytes_);
  bytes_ = nullptr;
  size_ = 0;
}

}  // namespace krux
