// What one check of the conformance kit is, and how it ended.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace krux::certify {

enum class CheckOutcome {
  kPassed,
  kFailed,
  kNotChecked,     ///< the manifest does not tell what it needs
  kNotApplicable,  ///< the adapter has nothing that it is about
};

const char* to_string(CheckOutcome outcome);

struct CheckResult {
  std::string id, subject;  ///< subject: the capability that was tried; empty where the check is about the whole
  std::string title, did, expected, happened, hint;
  CheckOutcome outcome = CheckOutcome::kFailed;
  std::int64_t ms = 0;
};

/// Thrown by a check: what happened instead of what was expected. A hint given here replaces the check's own.
class CheckFailed : public std::runtime_error {
 public:
  explicit CheckFailed(const std::string& happened, std::string hint = {})
      : std::runtime_error(happened), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// Thrown by a check: "because ...".
class CheckSkipped : public std::runtime_error {
 public:
  CheckSkipped(CheckOutcome outcome, const std::string& why) : std::runtime_error(why), outcome_(outcome) {}
  CheckOutcome outcome() const { return outcome_; }

 private:
  CheckOutcome outcome_;
};

inline CheckSkipped not_checked(const std::string& why) {
  return {CheckOutcome::kNotChecked, why};
}
inline CheckSkipped not_applicable(const std::string& why) {
  return {CheckOutcome::kNotApplicable, why};
}

class Lab;

enum class CheckScope {
  kKit,    ///< made by the kit itself, which never runs the adapter's code
  kOnce,   ///< once, in the worker
  kRead,   ///< for each read of the definition
  kWrite,  ///< for each write of the definition
};

struct CheckInfo {
  const char *id, *title, *did, *expected, *hint;
  CheckScope scope;
  void (*run)(Lab&, const std::string& subject);  ///< nullptr with kKit
};

/// All checks, in the order in which they are made.
const std::vector<CheckInfo>& all_checks();
const CheckInfo* find_check(const std::string& id);

/// One check of one capability, as the worker is told.
struct CheckTask {
  std::string id, subject;
};

}  // namespace krux::certify
