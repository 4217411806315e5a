// The methods that call a capability: tools and resources.
#include "host/gateway/mcp/method_call.hpp"
#include "host/gateway/mcp/param_headers.hpp"
#include "host/gateway/mcp/resources.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {

void Methods::read_resource(Call& call) {
  const auto* uri = find(call.params, "uri", JsonKind::kString);
  if (!uri) return call.reply(invalid_params("\"uri\" is missing: the resource's address."));
  auto read = resource_at(api_.offered(), uri->text);
  if (!read) return call.reply(no_such_resource(uri->text, call.stateless));
  Invocation invocation;
  invocation.capability = read->capability;
  invocation.arguments_json = read->arguments_json;
  invoke(call, std::move(invocation), [form = form_of(call), read = *std::move(read)](const InvocationResult& done) {
    return resource_result(done, read, form);
  });
}

void Methods::call_tool(Call& call) {
  const auto* name = find(call.params, "name", JsonKind::kString);
  if (!name) return call.reply(invalid_params("\"name\" is missing: the tool's name."));
  const auto* arguments = call.params.find("arguments");
  if (arguments && arguments->kind == JsonKind::kNull) arguments = nullptr;
  if (arguments && arguments->kind != JsonKind::kObject)
    return call.reply(invalid_params("\"arguments\" must be an object."));
  const auto capability = capability_named(name->text, knows());
  if (!capability)
    return call.reply(invalid_params(
        fmt::format("There is no tool \"{}\". tools/list shows all.", printable(name->text.substr(0, kLongestShown)))));
  if (call.stateless) {
    auto why = why_unlike_arguments(api_.header_inputs(*capability), call.head.parameters,
                                    arguments ? arguments->raw : std::string_view());
    if (why) return call.refuse(400, *std::move(why));
  }
  Invocation invocation;
  invocation.capability = *capability;
  invocation.arguments_json = arguments ? arguments->raw : std::string_view("{}");
  invoke(call, std::move(invocation),
         [form = form_of(call)](const InvocationResult& done) { return tool_result(done, form); });
}

ResultForm Methods::form_of(const Call& call) const {
  return {call.stateless, labels_key_, knows()};
}

/// So that its client may take it back, and hear how far it has come.
void Methods::invoke(Call& call, Invocation invocation,
                     const std::function<RpcOutcome(const InvocationResult&)>& outcome_of) {
  invocation.session_id = session_of(call);
  invocation.for_model = true;
  const auto reply = once(call.reply);
  const auto cancellation = invocation.cancellation = std::make_shared<Cancellation>();
  const auto give_up = [reply, cancellation] {
    reply(RpcSilence{});
    cancellation->cancel();
  };
  invocation.progress = prepare(call, invocation.capability, give_up);
  const auto session = call.session();
  const auto listed = session.empty() ? nullptr : calls_.add(session, call.id, give_up);
  const auto refused = agents_.call(call.caller, std::move(invocation),
                                    [outcome_of, reply, cancellation, listed](const InvocationResult& done) {
                                      if (!cancellation->cancelled()) reply(outcome_of(done));
                                    });
  if (refused) reply(outcome_of({false, {}, error_json(*refused, nullptr)}));
}

/// Where it is told how far the call has come; empty: nowhere. What may take its time is answered by events where the
/// client wants to hear of that, and where closing them is how it is taken back.
std::function<void(std::string_view)> Methods::prepare(Call& call, const std::string& capability,
                                                       const std::function<void()>& give_up) {
  const auto token = call.progress_token();
  const bool wants_events = (call.stateless || !token.empty()) && call.answer->begin_events;
  std::function<void(std::string_view)> tell;
  if (wants_events && api_.takes_time(capability)) {
    // Who has a session may lose his connection without meaning anything by it.
    tell = [events = call.answer->begin_events(call.stateless ? give_up : nullptr)](std::string_view message) {
      events->tell(message);
    };
  } else if (call.head.conversation && call.caller->to) {
    tell = [to = call.caller->to](std::string_view message) { to->send(message); };
  }
  if (token.empty() || !tell) return {};
  return [progress = std::make_shared<Progress>(token, std::move(tell))](std::string_view message) {
    (*progress)(message);
  };
}

/// What there is no such call of is over.
void Methods::cancel(const Call& call) {
  const auto* id = call.params.find("requestId");
  const auto session = call.session();
  if (id && !session.empty()) calls_.cancel(session, id->raw);
}

}  // namespace krux::mcp
