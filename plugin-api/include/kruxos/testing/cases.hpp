// kruxos/testing/cases.hpp - running test cases where no test framework is at hand.
#pragma once
#include <exception>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <stdexcept>
#include <string>

namespace kruxos::testing {

struct Case {
  std::string name;
  std::function<void()> run;
};

/// Runs all and prints those that fail, with what they threw. The result is main()'s: 0 when none did.
inline int run(std::initializer_list<Case> cases) {
  int failed = 0;
  const auto report = [&failed](const Case& one, const std::string& why) {
    ++failed;
    std::cerr << "FAILED " << one.name << "\n  " << why << "\n";
  };
  for (const auto& one : cases) {
    try {
      one.run();
    } catch (const std::exception& e) {
      report(one, e.what());
    } catch (...) {
      report(one, "It threw something that is no std::exception.");
    }
  }
  std::cerr << cases.size() - static_cast<std::size_t>(failed) << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

namespace detail {

inline void require(bool holds, const char* what, const char* file, int line) {
  if (!holds) throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what + " does not hold");
}

}  // namespace detail
}  // namespace kruxos::testing

/// Ends the case, with file and line, where the expression is false.
#define KRUXOS_REQUIRE(...) \
  ::kruxos::testing::detail::require(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
