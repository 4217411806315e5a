// Reads that ask, for tests.
#pragma once

#include <string>

#include "core/capability/questions.hpp"
#include "host/gateway/gateway_fixture.hpp"

namespace gateway_test {

inline const std::string kForm = R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})";
inline const std::string kWho = R"({"who":{"kind":"form","message":"Who?","schema":)" + kForm + "}}";

/// A call that must be told these before it can answer.
inline InvocationResult asks(const Invocation& call, const std::string& questions_json, const std::string& state) {
  InvocationResult result;
  result.error_json = error_json(Error(ErrorCode::kInputRequired, "Ask."), nullptr);
  Questions questions;
  questions.all = parse_questions(questions_json);
  questions.questions_json = questions_json;
  questions.state = state;
  questions.account = "x/1#1";
  questions.missing = questions.kinds() & ~call.dialogue->can_ask;
  result.questions = std::move(questions);
  return result;
}

}  // namespace gateway_test
