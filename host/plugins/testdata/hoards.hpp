// How much code within a sandbox gets of what a machine has only so much of.
#pragma once

#include <pthread.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace attacks {

/// Writes to memory that no limit counts any more once it can only be read. How many MiB, at most `most`.
inline int memory_to_be_hidden(int most) {
  constexpr int piece = 16;
  int held = 0;
  for (; held < most; held += piece) {
    void* const at = mmap(nullptr, piece << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) break;
    std::memset(at, 1, piece << 20);
    if (mprotect(at, piece << 20, held % (2 * piece) == 0 ? PROT_READ : PROT_NONE) != 0) break;
  }
  return held;
}

/// Starts threads that wait until none is to be had, or `most`; then lets them go. How many there were.
inline int threads_to_be_had(int most) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  std::vector<pthread_t> started;
  const auto wait = [](void* at) -> void* {
    auto* const mutex = static_cast<pthread_mutex_t*>(at);
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return nullptr;
  };
  pthread_t one{};
  while (static_cast<int>(started.size()) < most && pthread_create(&one, &attributes, wait, &gate) == 0)
    started.push_back(one);
  pthread_mutex_unlock(&gate);
  for (const auto thread : started) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return static_cast<int>(started.size());
}

}  // namespace attacks
