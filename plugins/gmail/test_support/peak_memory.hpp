// How much memory something takes beyond what was taken before. One at a time.
//
// With a sanitizer, which keeps freed memory back, it counts what is allocated; without one, it is what the kernel has
// seen of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GMAIL_COUNTS_ALLOCATIONS 1
// Of the sanitizers' runtime. Debian's g++ comes without the header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#endif

namespace gmail {

class PeakMemory {
 public:
#ifdef GMAIL_COUNTS_ALLOCATIONS
  static constexpr bool kCountsReserved = true;  ///< memory that nobody has touched yet counts as well

  PeakMemory() {
    static const bool installed = __sanitizer_install_malloc_and_free_hooks(&taken, &given_back) != 0;
    (void)installed;
    held() = 0;
    most() = 0;
  }
  std::int64_t bytes() const {
    return most();
  }

 private:
  static std::atomic<std::int64_t>& held() {
    static std::atomic<std::int64_t> bytes = 0;
    return bytes;
  }
  static std::atomic<std::int64_t>& most() {
    static std::atomic<std::int64_t> bytes = 0;
    return bytes;
  }
  static void taken(const volatile void*, std::size_t size) {
    const auto now = held() += static_cast<std::int64_t>(size);
    auto before = most().load();
    while (now > before && !most().compare_exchange_weak(before, now)) {
    }
  }
  static void given_back(const volatile void* memory) {
    held() -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(memory));
  }
#else
  static constexpr bool kCountsReserved = false;

  PeakMemory() {
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = status("VmRSS:");
  }
  std::int64_t bytes() const {
    return status("VmHWM:") - before_;
  }

 private:
  static std::int64_t status(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name)) return std::stoll(line.substr(name.size())) * 1024;
    }
    return 0;
  }
  std::int64_t before_ = 0;
#endif
};

}  // namespace gmail
