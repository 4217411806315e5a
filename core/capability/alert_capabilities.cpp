// alerts.*: what an agent tells the operator, and what it hears of its writes.
#include <fmt/format.h>

#include <algorithm>

#include "core/capability/alert_json.hpp"
#include "core/capability/host_capability.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestTitle = 100, kLongestMessage = 1000;
constexpr std::int64_t kMostAlerts = 50;

CapabilityDefinition about_alerts(const char* name, CapabilityKind kind, const char* purpose, const char* when_to_use) {
  auto c = host_capability(name, kind, purpose, when_to_use, "alerts");
  c.core = false;
  return c;
}

CapabilityDefinition send_alert() {
  auto c = about_alerts("alerts.send", CapabilityKind::kDecide, "Tell the operator something.",
                        "To tell the person who runs this host what he should know.");
  auto severity = host_text("severity", "");
  severity.one_of = {"info", "warning"};
  severity.max_length.reset();
  severity.default_json = "\"info\"";
  auto message = host_text("message", "", kLongestMessage);
  message.required = true;
  message.min_length = 1;
  c.inputs = {severity, host_text("title", "", kLongestTitle), message};
  return c;
}

CapabilityDefinition list_alerts() {
  auto c = about_alerts("alerts.list", CapabilityKind::kRead, "List your alerts and those about your writes.",
                        "To see which alerts are open: yours, and the host's about your writes.");
  auto open = host_text("open_only", "");
  open.type = InputType::kBoolean;
  open.default_json = "true";
  open.max_length.reset();
  c.inputs = {open};
  return c;
}

CapabilityDefinition acknowledge_alert() {
  auto c = about_alerts("alerts.acknowledge", CapabilityKind::kDecide, "Close an alert that you sent.",
                        "To close an alert of yours that is settled.");
  auto id = host_text("alert_id", "");
  id.type = InputType::kInteger;
  id.required = true;
  id.max_length.reset();
  id.minimum = 1;
  c.inputs = {id};
  return c;
}

/// One line for people: line feeds and tabs become spaces, and what does strange things to a screen is refused.
std::string line_of(const CheckedCall& call, const char* name) {
  auto text = text_argument(call, name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  if (printable(text) != text)
    throw invalid_input(
        fmt::format("\"{}\" holds characters that cannot be printed, such as control characters. "
                    "Leave them out.",
                    name));
  return text;
}

void answer_alert(const CheckedCallPtr& call, const std::variant<Alert, Error>& outcome) {
  if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
  const auto& alert = std::get<Alert>(outcome);
  call->succeed(json_object([&](JsonWriter& out) {
    put(out, "alert_id", alert.id);
    put(out, "open", alert.acknowledged_at_ms == 0);
  }));
}

void run_send(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto title = line_of(*call, "title"), message = line_of(*call, "message");
  if (message.find_first_not_of(' ') == std::string::npos)
    throw invalid_input("\"message\" is empty: say what happened, and what is to be done.");
  context->records.alerts.send(call->invocation.agent_id, text_argument(*call, "severity"),
                               title.empty() ? message : fmt::format("{}: {}", title, message),
                               [call](const auto& outcome) { answer_alert(call, outcome); });
}

std::string alerts_json(const HandlerContext& context, const CheckedCall& call) {
  const auto open_only = find_bool(call.arguments.params, "open_only").value_or(true);
  const auto alerts = context.records.alerts.list_for(call.invocation.agent_id, open_only, kMostAlerts);
  return sized_for(call, json_object([&](JsonWriter& out) {
                     put_objects(out, "alerts", alerts, [&](const Alert& alert) { put_alert(out, alert); });
                   }));
}

void run_acknowledge(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  context->records.alerts.acknowledge_own(find_int(call->arguments.params, "alert_id").value_or(0),
                                          call->invocation.agent_id,
                                          [call](const auto& outcome) { answer_alert(call, outcome); });
}

}  // namespace

void put_alert(JsonWriter& out, const Alert& alert) {
  put(out, "alert_id", alert.id);
  put(out, "severity", alert.severity);
  put(out, "kind", alert.kind);
  put(out, "message", alert.message);
  put(out, "by_you", alert.in_agents_words());
  if (!alert.write_id.empty()) put(out, "write_id", alert.write_id);
  if (!alert.service.empty()) put(out, "service", alert.service);
  put(out, "raised_at", format_time(alert.raised_at_ms));
  put(out, "open", alert.acknowledged_at_ms == 0);
}

std::vector<HostCapability> alert_capabilities() {
  return {{send_alert(), run_send},
          {list_alerts(), [](const auto& context, const auto& call) { answer_on_worker(context, call, alerts_json); }},
          {acknowledge_alert(), run_acknowledge}};
}

}  // namespace krux
