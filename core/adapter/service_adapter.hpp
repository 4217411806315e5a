// One adapter instance as core sees it: one account's. Implemented over the C tables by host/plugins/abi_bridge; tests
// implement it directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/adapter/adapter_functions.hpp"
#include "core/adapter/call.hpp"

namespace krux {

struct SyncStep {
  enum class Next { kDone, kMore, kWait } next = Next::kDone;
  std::int64_t wait_ms = 0;
  std::int64_t complete_through_ms = 0;
  std::uint64_t parts_done = 0, parts_total = 0;
};

/// A write as an adapter is shown it.
struct AdapterWrite {
  std::string write_id, operation, params_json, note_json, point_json;
  std::uint32_t attempt = 0;
  std::int64_t created_at_ms = 0, first_attempt_at_ms = 0;
};

struct EffectFound {
  enum class Answer { kCannotTell, kFound, kAbsent, kDisproved } answer = Answer::kCannotTell;
  std::string result_json;  ///< with kFound
  std::string why;          ///< with kCannotTell: a sentence, or nothing
};

struct Identity {
  std::string account_id, display_name, principal;  ///< principal: who acts there; may be empty
  std::vector<std::string> scopes;
  bool scopes_known = false;
};

struct RollbackRequest {
  std::string rollback_id, operation, params_json, point_json, result_json;
  bool force = false;
};

/// A function of the list as a virtual one.
template <class Function, class Signature = typename Function::Signature>
class Answers;
template <class Function, class Result, class... Arguments>
class Answers<Function, Result(Arguments...)> {
 public:
  virtual CallResult<Result> answer(Function, const CallContextPtr& call, Arguments... arguments) = 0;

 protected:
  ~Answers() = default;
};

template <class Numbers>
class AnswersEach;
template <std::size_t... numbers>
class AnswersEach<std::index_sequence<numbers...>> : public Answers<FnAt<numbers>>... {
 public:
  using Answers<FnAt<numbers>>::answer...;

 protected:
  ~AnswersEach() = default;
};

/// Calls block; start them through CallRunner, which abandons those that pass their deadline. They never throw: a
/// defect of the adapter is a CallFailure. What is passed by shared_ptr is kept by the callee until the adapter's code
/// has really returned. Everything may be asked from several threads at once, except the two syncs.
class ServiceAdapter : public AnswersEach<std::make_index_sequence<AdapterFunctions::kCount>> {
 public:
  virtual ~ServiceAdapter() = default;

  virtual AdapterRoles roles() const = 0;

  /// adapter->ask<"read">(call, reader, "notes.search", params_json)
  template <FunctionName name, class... Arguments>
  CallResult<typename Fn<name>::Result> ask(const CallContextPtr& call, Arguments&&... arguments) {
    return answer(Fn<name>{}, call, std::forward<Arguments>(arguments)...);
  }
};

/// One of the virtual functions, overridden by Derived::answer_alike(function, call, arguments...).
template <class Derived, class Base, class Function, class Signature = typename Function::Signature>
class AnswersOneAlike;
template <class Derived, class Base, class Function, class Result, class... Arguments>
class AnswersOneAlike<Derived, Base, Function, Result(Arguments...)> : public Base {
 public:
  using Base::answer;
  CallResult<Result> answer(Function function, const CallContextPtr& call, Arguments... arguments) override {
    return static_cast<Derived*>(this)->answer_alike(function, call, arguments...);
  }
};

/// An adapter that answers everything by that one template of its own. `count`: so many of the list.
template <class Derived, std::size_t count = AdapterFunctions::kCount>
class AnswersAlike : public AnswersOneAlike<Derived, AnswersAlike<Derived, count - 1>, FnAt<count - 1>> {};
template <class Derived>
class AnswersAlike<Derived, 0> : public ServiceAdapter {};

}  // namespace krux
