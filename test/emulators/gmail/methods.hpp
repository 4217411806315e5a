// The API's methods over mailboxes. run_method() is the whole of Gmail's behaviour below HTTP: token, scopes,
// arguments, effect, answer. Quota, faults and batches are added above it (api.hpp).
#pragma once

#include "emulators/common/performer.hpp"
#include "emulators/gmail/call.hpp"
#include "emulators/gmail/state.hpp"

namespace krux::test::gmail {

// What a method works with. It writes the fields of its success answer into `out`, whose object is open.
struct MethodContext {
  State& state;
  Mailbox& mailbox;
  const Call& call;
  const Access& access;
  std::int64_t now_ms = 0;
  JsonOut out;
  bool no_content = false;  // 204 in place of `out`

  // The message that the path names. Fills `failure` when there is none.
  const Message* message(const char* name, MaybeFailure& failure) const;
};

enum class Body { none, message, draft, modify, batch_modify, batch_delete, label };

struct Method {
  const char* id;
  const char* verb;
  const char* path;  // below /gmail/v1/users/{userId}
  std::vector<const char*> scopes;
  std::vector<const char*> parameters;  // of the query, beside those that all methods take
  int units;
  Body body;
  std::size_t max_upload;  // bytes of a mail; 0: takes no upload
  MaybeFailure (*run)(MethodContext&);
};

const std::vector<Method>& all_methods();
const Method* find_method(const std::string& id);
// Null: nothing is at that address. `values` are the path's parameters.
const Method* route(const std::string& verb, const std::string& path, std::map<std::string, std::string>& values);

Performed run_method(State& state, const Call& call);

// One function a method; see methods_*.cpp.
MaybeFailure get_profile(MethodContext& context);
MaybeFailure messages_list(MethodContext& context);
MaybeFailure messages_get(MethodContext& context);
MaybeFailure messages_send(MethodContext& context);
MaybeFailure messages_insert(MethodContext& context);
MaybeFailure messages_import(MethodContext& context);
MaybeFailure messages_modify(MethodContext& context);
MaybeFailure messages_trash(MethodContext& context);
MaybeFailure messages_untrash(MethodContext& context);
MaybeFailure messages_delete(MethodContext& context);
MaybeFailure messages_batch_modify(MethodContext& context);
MaybeFailure messages_batch_delete(MethodContext& context);
MaybeFailure attachments_get(MethodContext& context);
MaybeFailure drafts_list(MethodContext& context);
MaybeFailure drafts_get(MethodContext& context);
MaybeFailure drafts_create(MethodContext& context);
MaybeFailure drafts_update(MethodContext& context);
MaybeFailure drafts_send(MethodContext& context);
MaybeFailure drafts_delete(MethodContext& context);
MaybeFailure labels_list(MethodContext& context);
MaybeFailure labels_get(MethodContext& context);
MaybeFailure labels_create(MethodContext& context);
MaybeFailure labels_patch(MethodContext& context);
MaybeFailure labels_update(MethodContext& context);
MaybeFailure labels_delete(MethodContext& context);
MaybeFailure threads_list(MethodContext& context);
MaybeFailure threads_get(MethodContext& context);
MaybeFailure threads_modify(MethodContext& context);
MaybeFailure threads_trash(MethodContext& context);
MaybeFailure threads_untrash(MethodContext& context);
MaybeFailure threads_delete(MethodContext& context);
MaybeFailure history_list(MethodContext& context);

}  // namespace krux::test::gmail
