// GMime's objects, held by owners that give them back. Implementation files alone include it.
#pragma once

#include <gmime/gmime.h>

#include <memory>

namespace gmail {

struct Unref {
  void operator()(void* object) const { g_object_unref(object); }
};
struct Free {
  void operator()(void* memory) const { g_free(memory); }
};
template <class T>
using Held = std::unique_ptr<T, Unref>;
using HeldText = std::unique_ptr<char, Free>;

/// Before anything else of GMime, any number of times, on any thread.
void start_gmime();

}  // namespace gmail
