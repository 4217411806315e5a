// The Web API's methods over a workspace. run_method() is the whole of Slack's behaviour below HTTP: token, scopes,
// arguments, effect, answer. Faults and rate limits are added above it (emulator.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulators/common/json_out.hpp"
#include "emulators/common/performer.hpp"
#include "emulators/slack/behaviour.hpp"
#include "emulators/slack/params.hpp"
#include "emulators/slack/tokens.hpp"
#include "emulators/slack/workspace.hpp"

namespace krux::test::slack {

struct Failure {
  std::string error;
  std::string needed;                 // the scope, for missing_scope
  std::vector<std::string> messages;  // for invalid_arguments
};
using MaybeFailure = std::optional<Failure>;

// What a method works with. It writes the fields of its success answer into `out`, whose object is open.
struct MethodContext {
  Workspace& workspace;
  Tokens& tokens;
  const Behaviour& behaviour;
  const Call& call;
  const Token* token = nullptr;  // null for methods that need none
  std::int64_t now_ms = 0;
  int max_items = 0;  // the most items a page may have by the rate limits in force; 0: no such limit
  JsonOut out;
  bool metadata_written = false;  // response_metadata stands in `out` already

  Ts now_ts() const { return now_ms * 1000; }
};

struct Method {
  const char* name;
  std::vector<const char*> scopes;  // any one of them lets the caller in; none: a valid token is enough
  bool needs_token;
  MaybeFailure (*run)(MethodContext&);
  std::vector<const char*> parameters;  // all that it understands
};

const std::vector<Method>& all_methods();
const Method* find_method(const std::string& name);

struct World {
  Workspace& workspace;
  Tokens& tokens;
  const Behaviour& behaviour;
};

// The effect, if any, has happened when it returns.
Performed run_method(World world, const Call& call, std::int64_t now_ms, int max_items);
Performed failure_answer(const Call& call, const Failure& failure, const Token* token);

// One function a method; see methods_*.cpp.
MaybeFailure conversations_list(MethodContext& context);
MaybeFailure conversations_info(MethodContext& context);
MaybeFailure conversations_history(MethodContext& context);
MaybeFailure conversations_replies(MethodContext& context);
MaybeFailure users_list(MethodContext& context);
MaybeFailure users_info(MethodContext& context);
MaybeFailure chat_post_message(MethodContext& context);
MaybeFailure chat_update(MethodContext& context);
MaybeFailure chat_delete(MethodContext& context);
MaybeFailure reactions_add(MethodContext& context);
MaybeFailure reactions_remove(MethodContext& context);
MaybeFailure reactions_get(MethodContext& context);
MaybeFailure auth_test(MethodContext& context);
MaybeFailure auth_revoke(MethodContext& context);
MaybeFailure api_test(MethodContext& context);

}  // namespace krux::test::slack
