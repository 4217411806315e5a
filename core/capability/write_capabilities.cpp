// proxy.*: an agent's own writes.
#include "core/capability/host_capability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/capability/host_capabilities.hpp"
#include "core/capability/write_call.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/capability_parser.hpp"
#include "core/state/sessions.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_rows.hpp"

namespace krux {
namespace {

constexpr const char* kWaiting = "waiting";  ///< beside the states' names
constexpr std::int64_t kMaxListed = 100;
/// Clients of the Model Context Protocol give a call up after a minute.
constexpr std::int64_t kMaxWaitSeconds = 50;

CapabilityDefinition make(const char* name, CapabilityKind kind, const char* purpose, const char* when_to_use) {
  return host_capability(name, kind, purpose, when_to_use, "writes");
}

CapabilityDefinition cancel_write() {
  auto c =
      make("proxy.cancel_write", CapabilityKind::kCancel, "Take back a write that has not been executed yet.",
           "To take back a write that is not done yet: until its cancel_deadline, or while it is to be tried again.");
  c.inputs = cancel_inputs();
  c.outputs = {
      host_output("write_id", InputType::kString, ""), host_output("status", InputType::kString, ""),
      host_output("cleanup", InputType::kString,
                  "Of what an attempt has made (a draft): pending while it is taken away, then done or left.")};
  return c;
}

std::vector<WriteState> all_write_states() {
  std::vector<WriteState> states;
  for (int i = 0; i <= static_cast<int>(WriteState::kDiscarded); ++i) states.push_back(static_cast<WriteState>(i));
  return states;
}

/// What is always told of a write; a time or an error only where there is one.
std::vector<OutputDefinition> of_a_write() {
  auto error = host_output("error", InputType::kObject, "");
  error.fields = {host_output("type", InputType::kString, ""), host_output("message", InputType::kString, "")};
  return {
      host_output("write_id", InputType::kString, ""),
      host_output("status", InputType::kString,
                  "pending_approval (a person decides), buffered, executing, dead_letter (it did not happen, the "
                  "host tries again), unknown (it may have happened, the host finds out); ended: completed, failed, "
                  "rejected, cancelled, discarded, rolled_back."),
      host_output("capability", InputType::kString, ""),
      host_output("summary", InputType::kString, ""),
      host_output("cancel_deadline", InputType::kDateTime, ""),
      host_output("created_at", InputType::kDateTime, ""),
      host_output("ended_at", InputType::kDateTime, ""),
      host_output("undo_until", InputType::kDateTime, ""),
      host_output("next_attempt_at", InputType::kDateTime, ""),
      host_output("needs_operator", InputType::kBoolean, "A person has to decide about it."),
      error};
}

CapabilityDefinition write_status() {
  auto c = make(kWriteStatus, CapabilityKind::kRead, "See what became of one of your writes.",
                "To learn whether a write has happened: after its cancel_deadline, after an error, whenever you are "
                "unsure. Ask, do not repeat it.");
  c.inputs = cancel_inputs();
  c.inputs.push_back(host_number("wait_seconds",
                                 "Answer when the write has ended, or after so many seconds with how it stands then.",
                                 0, kMaxWaitSeconds, "0"));
  c.outputs = of_a_write();
  c.outputs.push_back(host_output("recipients", InputType::kObject, "Unless arguments has them."));
  c.outputs.push_back(host_output("arguments", InputType::kObject, ""));
  c.outputs.push_back(host_output("result", InputType::kObject, ""));
  c.outputs.push_back(host_output("content_hash", InputType::kString, ""));
  return c;
}

CapabilityDefinition list_writes() {
  auto c = make("proxy.list_writes", CapabilityKind::kRead, "List your own writes, newest first.",
                "To see what still waits, or to find a write whose id you lost.");
  auto status = host_text("status", "Only writes in this state; waiting: all that have not ended.");
  status.max_length.reset();
  status.one_of.emplace_back(kWaiting);
  for (const auto state : all_write_states()) status.one_of.emplace_back(to_string(state));
  c.inputs = {status, host_text("service", "Only writes to this service."),
              host_text("session_id", "Only writes of this session of yours."),
              host_number("limit", "How many to return at most.", 1, kMaxListed, "20"),
              host_text("before", "For the next page: next_before of this one.")};
  auto writes = host_output("writes", InputType::kArray, "");
  writes.items = {host_output("", InputType::kObject, "")};
  c.outputs = {writes, host_output("more", InputType::kBoolean, ""),
               host_output("next_before", InputType::kString, "For the next page.")};
  return c;
}

CapabilityDefinition edit_write() {
  auto c = make("proxy.edit_write", CapabilityKind::kDecide, "Change a write that still waits.",
                "Until its cancel_deadline, instead of cancelling it and asking anew. Its window begins again; what a "
                "person was asked about, he is asked about again.");
  c.core = false;
  auto arguments =
      host_text("arguments",
                "The parameters that change, as its capability takes them; the others stay. null takes one "
                "back to its default.");
  arguments.type = InputType::kObject;
  arguments.required = true;
  arguments.aliases = {"parameters"};
  arguments.max_length.reset();
  c.inputs = cancel_inputs();
  c.inputs.push_back(arguments);
  c.inputs.push_back(host_text("content_hash", "That you saw last: if it has changed since, nothing is done."));
  c.outputs = {host_output("write_id", InputType::kString, ""), host_output("status", InputType::kString, ""),
               host_output("content_hash", InputType::kString, ""),
               host_output("cancel_deadline", InputType::kDateTime, "")};
  return c;
}

CapabilityDefinition rollback() {
  auto c = make("proxy.rollback", CapabilityKind::kDecide, "Undo one of your completed writes at the service.",
                "To undo a write that was done, until its undo_until. One that still waits is taken back with "
                "proxy.cancel_write.");
  c.destructive = true;
  c.inputs = cancel_inputs();
  c.outputs = {host_output("status", InputType::kString,
                           "completed: it is undone. Else ask proxy.write_status for write_id, with wait_seconds."),
               host_output("write_id", InputType::kString, "The undo's (rb_...)."),
               host_output("undoes", InputType::kString, "")};
  return c;
}

std::string status_of(const HandlerContext& context, const CheckedCall& call, const WriteRecord& write) {
  return sized_for(call, status_json(write, true, recipients_of(context, write), names_for(call)));
}

/// Says in which state the write is, when the wait begins and whenever it has become another one.
std::function<void(const WriteRecord&)> tells_of(const CheckedCall& call) {
  if (!call.invocation.progress) return {};
  return [tell = call.invocation.progress, last = std::make_shared<std::atomic<int>>(-1)](const WriteRecord& now) {
    const auto state = static_cast<int>(now.state);
    if (last->exchange(state) != state) tell(fmt::format("The write {}.", state_in_words(phase_of(now))));
  };
}

std::int64_t wait_ms_of(const CheckedCall& call) {
  return 1000 * find_int(call.arguments.params, "wait_seconds").value_or(0);
}

/// The write as it stands when it has ended, the time is over or nobody waits any more. No thread waits meanwhile, and
/// who tells of it, which is whoever has committed, has the answer made by a worker.
void wait_for_end(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto id = write_id_of(*call);
  const auto waiter = context->writes.settled.wait(
      id, wait_ms_of(*call),
      [context, call](const WriteRecord& now) {
        if (call->invocation.is_given_up()) return call->fail(given_up());
        run_on_worker(
            context, call, context->options.read_timeout_ms,
            [context, call, now](const CallContextPtr&) {
              if (now.operation.empty()) throw not_readable_now();
              return status_of(*context, *call, now);
            },
            [call](WorkAnswer text) { answer_with(call, std::move(text)); });
      },
      WaitFor::kEnded, tells_of(*call));
  if (const auto& cancellation = call->invocation.cancellation)
    cancellation->on_cancel([context, id, waiter] { context->writes.settled.give_up(id, waiter); });
}

void run_status(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call](const CallContextPtr&) {
        const auto write = own_write(*context, call->invocation.agent_id, write_id_of(*call));
        return waits(*call) && !has_ended(write.state) ? std::string() : status_of(*context, *call, write);
      },
      [context, call](WorkAnswer text) {
        const auto* told = std::get_if<std::string>(&text);
        if (told && told->empty()) return wait_for_end(context, call);
        answer_with(call, std::move(text));
      });
}

/// Nothing: of all states.
std::vector<WriteState> states_named(const std::string& status) {
  if (const auto state = parse_write_state(status)) return {*state};
  auto states = all_write_states();
  if (status != kWaiting) return {};
  std::erase_if(states, has_ended);
  return states;
}

std::string list_of(const HandlerContext& context, const CheckedCall& call) {
  const auto limit = find_int(call.arguments.params, "limit").value_or(20);
  WriteFilter filter;
  filter.agent_id = call.invocation.agent_id;
  filter.service = text_argument(call, "service");
  filter.account_id = call.arguments.account;
  filter.before_write_id = text_argument(call, "before");
  filter.limit = limit + 1;
  if (const auto id = text_argument(call, "session_id"); !id.empty()) {
    const auto session = context.records.sessions.find(id);
    if (!session || session->agent_id != filter.agent_id)
      throw invalid_input(fmt::format("There is no session {} of yours.", printable(id)));
    filter.session_id = id;
    filter.after_seq = session->after_seq;
  }
  filter.states = states_named(text_argument(call, "status"));
  const auto writes = context.writes.ledger.list(filter);
  if (writes.empty() && !filter.service.empty() && !context.accounts.service(filter.service))
    throw invalid_input(fmt::format("There is no service \"{}\" here.", printable(filter.service)));
  std::string out;
  const auto shown = std::min(writes.size(), static_cast<std::size_t>(limit));
  for (std::size_t i = 0; i < shown; ++i)
    out += (i == 0 ? "" : ",") + status_json(writes[i], false, recipients_of(context, writes[i]), names_for(call));
  const bool more = writes.size() > shown;
  const auto next = more ? fmt::format(R"(,"next_before":"{}")", writes[shown - 1].write_id) : std::string();
  return sized_for(call, fmt::format(R"({{"writes":[{}],"more":{}{}}})", out, more, next));
}

void run_list(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_on_worker(context, call, list_of);
}

}  // namespace

bool can_wait(const CapabilityDefinition& capability) {
  return capability.name == kWriteStatus;
}

bool waits(const CheckedCall& call) {
  return can_wait(*call.capability) && wait_ms_of(call) > 0;
}

std::vector<HostCapability> write_capabilities() {
  return {{cancel_write(), run_cancel},
          {edit_write(), run_edit},
          {rollback(), run_rollback},
          {write_status(), run_status},
          {list_writes(), run_list}};
}

}  // namespace krux
