#include "core/capability/approvals.hpp"

#include <fmt/format.h>

#include "core/capability/host_capabilities.hpp"
#include "core/capability/write_call.hpp"
#include "core/util/ids.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

const char* approval_status(const WriteRecord& write) {
  switch (write.state) {
    case WriteState::kPendingApproval:
      return "pending";
    case WriteState::kRejected:
    case WriteState::kCancelled:
    case WriteState::kDiscarded:
      return to_string(write.state);
    default:
      return "approved";
  }
}

std::string told(const HandlerContext& context, const WriteRecord& write) {
  if (write.operation.empty()) throw not_readable_now();
  return approval_json(write, true, recipients_of(context, write));
}

WriteRecord asked_about(const HandlerContext& context, const std::string& agent_id, const std::string& write_id) {
  if (!is_id(kIdPrefix, write_id))
    throw invalid_input(fmt::format("\"{}\" is no approval_id: it is the write_id (w_...) of the write that waits.",
                                    printable(write_id)));
  auto write = own_write(context, agent_id, write_id);
  if (write.state != WriteState::kPendingApproval && write.approval_reason.empty())
    throw invalid_input(fmt::format("No person was asked about {}; proxy.write_status says how it stands.", write_id));
  return write;
}

}  // namespace

std::string approval_json(const WriteRecord& write, bool whole, const std::string& recipients_json) {
  const std::string_view status = approval_status(write);
  return json_object([&](JsonWriter& out) {
    put(out, "approval_id", write.write_id);
    put(out, "status", status);
    put(out, "resolved", status != "pending");
    put(out, "approved", status == "approved");
    if (status == "rejected") put(out, "reason", printable(write.error_message));
    put_raw(out, "write", status_json(write, whole, recipients_json));
  });
}

void find_asked_approval(const HandlerContextPtr& context, const std::string& agent_id, const std::string& write_id,
                         std::function<void(AskedOutcome)> done) {
  const auto call = std::make_shared<CheckedCall>();
  call->definition = host_definition();
  call->invocation.agent_id = agent_id;
  const auto found = std::make_shared<std::optional<AskedApproval>>();
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, agent_id, write_id, found](const CallContextPtr&) {
        const auto write = own_write(*context, agent_id, write_id);
        if (write.state == WriteState::kPendingApproval && is_id(kIdPrefix, write_id))
          *found = AskedApproval{write_id, write.operation, write.content_hash};
        return std::string();
      },
      [found, done = std::move(done)](WorkAnswer answer) {
        // Of a look that was late the worker may still be at it.
        if (auto* why = std::get_if<Error>(&answer)) return done(std::move(*why));
        done(*found);
      });
}

/// No thread waits for the decision; a worker makes the answer.
void tell_of_approval(const HandlerContextPtr& context, const std::string& agent_id, const std::string& write_id,
                      std::int64_t wait_ms, std::function<void(std::variant<std::string, Error>)> done) {
  const auto call = std::make_shared<CheckedCall>();
  call->definition = host_definition();
  call->invocation.agent_id = agent_id;
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, agent_id, write_id, wait_ms](const CallContextPtr&) {
        const auto write = asked_about(*context, agent_id, write_id);
        const bool waits = wait_ms > 0 && write.state == WriteState::kPendingApproval;
        return waits ? std::string() : told(*context, write);
      },
      [context, call, write_id, wait_ms, done = std::move(done)](WorkAnswer first) {
        const auto* text = std::get_if<std::string>(&first);
        if (!text || !text->empty()) return done(std::move(first));
        context->writes.settled.wait(
            write_id, wait_ms,
            [context, call, done](const WriteRecord& now) {
              run_on_worker(
                  context, call, context->options.read_timeout_ms,
                  [context, now](const CallContextPtr&) { return told(*context, now); }, done);
            },
            WaitFor::kDecided);
      });
}

}  // namespace krux
