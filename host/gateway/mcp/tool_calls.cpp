// The methods that call a capability: tools and resources.
#include <kruxos/abi/call.h>

#include "host/gateway/mcp/call_channel.hpp"
#include "host/gateway/mcp/capability_call.hpp"
#include "host/gateway/mcp/method_call.hpp"
#include "host/gateway/mcp/param_headers.hpp"
#include "host/gateway/mcp/resources.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {
namespace {

/// Null: the client has asked for none, or cannot be told.
std::shared_ptr<Progress> progress_of(const std::string& token_json, const std::shared_ptr<CallChannel>& channel) {
  if (token_json.empty() || !channel->reaches()) return nullptr;
  return std::make_shared<Progress>(token_json, [channel](std::string_view message) { channel->send(message); });
}

}  // namespace

void Methods::read_resource(Call& call) {
  const auto* uri = find(call.params, "uri", JsonKind::kString);
  if (!uri) return call.reply(invalid_params("\"uri\" is missing: the resource's address."));
  auto read = resource_at(api_.offered(call.caller->agent.name), uri->text);
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
  if (*capability == kWriteStatus && call.knows_tasks()) {
    if (const auto write_id = awaited_write(invocation.arguments_json))
      return wait_for_write(call, std::move(invocation), *write_id);
  }
  invoke(call, std::move(invocation),
         [form = form_of(call)](const InvocationResult& done) { return tool_result(done, form); });
}

ResultForm Methods::form_of(const Call& call) const {
  return {call.stateless, labels_key_, knows(), leads_to(call) != 0};
}

/// So that its client may take it back, hear how far it has come, and be asked.
void Methods::invoke(Call& call, Invocation invocation,
                     const std::function<RpcOutcome(const InvocationResult&)>& outcome_of) {
  CapabilityCallOptions options;
  if (auto why = given_input(call, options.given)) return call.refuse(400, *std::move(why));
  invocation.session_id = session_of(call);
  invocation.for_model = true;
  invocation.cancellation = std::make_shared<Cancellation>();
  const bool takes_time = api_.takes_time(invocation.capability);
  // What ends a call that has begun to be answered is not known yet where it begins.
  const auto running = std::make_shared<std::weak_ptr<CapabilityCall>>();
  const auto give_up = [running] {
    if (const auto one = running->lock()) one->give_up();
  };
  options.channel = channel_of(call, give_up);
  const auto takes_long = call.method == "tools/call" ? api_.takes_long(invocation.capability) : TakesLong::kNo;
  if (takes_long == TakesLong::kAsTask && !call.knows_tasks()) return call.refuse(400, needs_tasks());
  options.may_be_task = call.knows_tasks() && takes_long != TakesLong::kNo;
  options.progress = progress_of(call.progress_token(), options.channel);
  const auto client = client_of(call);
  const auto session = call.session();
  invite_meanwhile(call, invocation, options);
  if (options.progress || options.may_be_task || options.inviting)
    invocation.progress = [progress = options.progress, running,
                           inviting = options.inviting](std::string_view message) {
      if (progress) (*progress)(message);
      if (inviting) inviting->look();
      if (const auto one = running->lock()) one->say(message);
    };
  options.caller = call.caller;
  options.model = call.stateless ? Model::kStateless : Model::kWithSessions;
  options.session = session;
  // Without a stateless result or a way to the client nobody is asked.
  options.can_ask = call.stateless || options.channel->reaches() ? client.abilities : 0;
  options.log_level = client.log_level;
  options.logger = tool_name(invocation.capability);
  options.invocation = std::move(invocation);
  options.outcome_of = outcome_of;
  options.reply = once(call.reply);
  options.set_status = [answer = call.answer, stateless = call.stateless](int status) {
    if (stateless && status != 0) answer->status = status;
  };
  const auto channel = options.channel;
  const auto one = std::make_shared<CapabilityCall>(CallParts{agents_, api_, questions_, seal_, tasks_, invitations_},
                                                    std::move(options));
  *running = one;
  if (!session.empty()) one->hold(calls_.add(session, call.id, give_up));
  // Where closing the answer is how it is taken back, how it is heard of, or what may be gone on with elsewhere, the
  // answer has to have begun.
  if (takes_time && (call.stateless || !call.progress_token().empty() || goes_on_elsewhere(call.head))) channel->open();
  one->begin();
}

/// Where it waits for a write, and its client can lead its user to the operator's page.
void Methods::invite_meanwhile(const Call& call, const Invocation& invocation, CapabilityCallOptions& options) {
  if (invocation.capability != kWriteStatus) return;
  const auto write_id = waited_write(invocation.arguments_json);
  const auto page_port = write_id ? leads_to(call) : std::uint16_t{0};
  if (page_port == 0) return;
  if (call.stateless)
    options.invites = InvitesTo{*write_id, page_port};
  else
    options.inviting = std::make_shared<InvitingWait>(
        inviting_parts(),
        InvitingWait::Options{call.caller->agent, call.session(), *write_id, page_port, options.channel});
}

/// How the call's client is reached before the answer.
std::shared_ptr<CallChannel> Methods::channel_of(const Call& call, const std::function<void()>& give_up) {
  if (call.head.conversation) return std::make_shared<CallChannel>(nullptr, call.caller->to);
  if (!call.answer->begin_events) return std::make_shared<CallChannel>(nullptr, nullptr);
  // Who has a session may lose his connection without meaning anything by it.
  return std::make_shared<CallChannel>(
      [begin = call.answer->begin_events, gone = call.stateless ? give_up : nullptr] { return begin(gone); }, nullptr);
}

/// What there is no such call of is over.
void Methods::cancel(const Call& call) {
  const auto* id = call.params.find("requestId");
  const auto session = call.session();
  if (id && !session.empty()) calls_.cancel(session, id->raw);
}

}  // namespace krux::mcp
