// How calls of state.* are answered. Internal to the room.
#pragma once

#include "core/capability/handler_context.hpp"

namespace krux {

void run_session_get(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_session_set(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_session_delete(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_session_list(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_session_clear(const HandlerContextPtr& context, const CheckedCallPtr& call);

void run_persistent_get(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_persistent_set(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_persistent_delete(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_persistent_list(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_persistent_query(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_persistent_history(const HandlerContextPtr& context, const CheckedCallPtr& call);

void run_shared_get(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_shared_set(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_shared_delete(const HandlerContextPtr& context, const CheckedCallPtr& call);
void run_shared_list(const HandlerContextPtr& context, const CheckedCallPtr& call);

}  // namespace krux
