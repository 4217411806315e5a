#include "core/capability/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kUnavailableRetryMs = 60'000;
constexpr std::size_t kMaxMessage = 1000;

/// What an adapter says is shown to agents and people: safe to print, and not endless.
std::string safe_message(const std::string& message) {
  if (message.size() <= kMaxMessage) return printable(message);
  auto end = kMaxMessage;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80) --end;
  return printable(std::string_view(message).substr(0, end)) + "...";
}

bool is_type_name(const std::string& type) {
  return !type.empty() && type.size() <= 64 && type[0] >= 'A' && type[0] <= 'Z' &&
         std::all_of(type.begin(), type.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

const char* type_of(krux_status status) {
  switch (status) {
    case KRUX_AUTH:
      return "NotConnected";
    case KRUX_RATE_LIMITED:
      return "RateLimited";
    case KRUX_REFUSED:
    case KRUX_INVALID:
      return "InvalidInput";
    case KRUX_STORAGE:
      return "DatabaseError";
    case KRUX_UNSUPPORTED:
      return "OperationBlocked";
    case KRUX_TIMEOUT:
      return "Timeout";
    case KRUX_NOT_FOUND:
      return "MessageNotFound";
    case KRUX_CONFLICT:
      return "RollbackConflict";
    default:
      return "ServiceUnavailable";
  }
}

std::string default_message(const std::string& type, const std::string& service) {
  if (type == "NotConnected")
    return fmt::format("{0} refuses the account's token. The operator connects it again with: kruxos connect {0}.",
                       service);
  if (type == "RateLimited") return fmt::format("{} allows no further call for now; try again later.", service);
  if (type == "Timeout") return fmt::format("{} did not answer in time; try again.", service);
  if (type == "MessageNotFound") return fmt::format("{} has no such item.", service);
  return fmt::format("{} failed without saying why ({}).", service, type);
}

using Actions = std::vector<RecoveryAction>;

/// Where a definition names no recovery of its own.
const std::map<std::string, Actions>& host_recovery() {
  static const RecoveryAction look{"check_status", "See what became of the write.", "proxy.write_status"};
  static const RecoveryAction operator_{"ask_operator", "Ask the operator.", ""};
  static const RecoveryAction later{"retry_later", "Call again after retry_after seconds.", ""};
  static const RecoveryAction describe{"correct_arguments",
                                       "Look at the capability's inputs (capabilities.describe) and call again.", ""};
  static const std::map<std::string, Actions> all{
      {"InvalidInput", {describe}},
      {"MessageNotFound", {{"search_again", "Search for it: it may be gone, or its id mistyped.", ""}}},
      {"NotConnected", {{"ask_operator", "Ask the operator to connect the service (kruxos connect).", ""}}},
      {"DatabaseError", {later, operator_}},
      {"WriteFailed", {look}},
      {"BatchProtection", {{"wait", "Wait until the window of the limit has passed, or write less.", ""}, operator_}},
      {"OperationBlocked", {operator_}},
      {"PolicyDenied", {operator_}},
      {"ApprovalRequired",
       {{"wait_for_approval", "Wait for the person; ask what became of it.", "proxy.write_status"}}},
      {"ApprovalRejected", {{"ask_operator", "Ask the operator why, before you try something else.", ""}}},
      {"RollbackConflict",
       {look, {"ask_operator", "Only a person can undo it nevertheless (kruxos approve rollback --force).", ""}}},
      {"RollbackExpired", {operator_}},
      {"RateLimited", {later}},
      {"Timeout", {later}},
      {"ServiceUnavailable", {later, operator_}},
      {"ConflictError",
       {{"new_key", "Use another idempotency_key for another content, or look at the present state first.", ""}}},
      {"CannotCancel", {look}},
      {"WriteCancelled", {{"ask_operator", "If you did not take it back, ask the operator why it was.", ""}}},
      {"WriteDiscarded", {operator_}},
      {"OutcomeUnknown",
       {{"check_status", "Do not repeat it: the host finds out whether it happened.", "proxy.write_status"}}},
  };
  return all;
}

void write_action(JsonWriter& json, const RecoveryAction& action) {
  json.StartObject();
  json.Key("action");
  json.String(action.action);
  json.Key("description");
  json.String(action.description);
  if (!action.capability.empty()) {
    json.Key("capability");
    json.String(action.capability);
  }
  json.EndObject();
}

void write_recovery(JsonWriter& json, const std::string& type, const ServiceDefinition* definition) {
  const Actions* actions = nullptr;
  if (definition) {
    const auto own = definition->recovery.find(type);
    if (own != definition->recovery.end()) actions = &own->second;
  }
  const auto hosts = host_recovery().find(type);
  if (!actions && hosts != host_recovery().end()) actions = &hosts->second;
  json.StartArray();
  if (actions) {
    for (const auto& action : *actions) write_action(json, action);
  }
  json.EndArray();
}

std::string words(const WriteRecord& write) {
  if (write.error_message.empty()) return "";
  auto message = " " + safe_message(write.error_message);
  if (std::string_view(".!?").find(message.back()) == std::string_view::npos) message += '.';
  return message;
}

}  // namespace

bool is_retryable(const std::string& type) {
  static const std::vector<std::string> types{"BodyFetchFailed", "DatabaseError", "WriteFailed",       "RateLimited",
                                              "Timeout",         "ConflictError", "ServiceUnavailable"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

Error to_error(const CallFailure& failure, const std::string& service) {
  const std::string type = is_type_name(failure.type) ? failure.type : type_of(failure.status);
  auto retry_after = failure.retry_after_ms;
  if (!retry_after && type == "ServiceUnavailable") retry_after = kUnavailableRetryMs;
  const auto message = failure.message.empty() ? default_message(type, service) : safe_message(failure.message);
  return {type, message, is_retryable(type), is_retryable(type) ? retry_after : std::nullopt};
}

namespace {

std::string context_of(const WriteRecord& write, const std::string& recipients_json) {
  const bool cleaned = write.cleanup != Cleanup::kNone && write.cleanup != Cleanup::kPossible;
  const auto cleanup = cleaned ? fmt::format(R"(,"cleanup":"{}")", to_string(write.cleanup)) : "";
  return fmt::format(R"({{"write_id":{},"status":"{}"{}{}}})", json_string(write.write_id), to_string(write.state),
                     cleanup, recipients_json.empty() ? "" : ",\"recipients\":" + recipients_json);
}

/// Somebody has decided that nothing more is done about it.
Error taken_back(const WriteRecord& write) {
  const auto* who = write.decided_by.starts_with("agent:") ? "its agent" : "an operator";
  if (write.state == WriteState::kCancelled)
    return {"WriteCancelled",
            fmt::format("It was taken back by {} before it was carried out, and will not happen.", who)};
  return {"WriteDiscarded",
          fmt::format("An operator has discarded it: the host does nothing more about it.{}",
                      write.attempts > 0 ? " Whether an attempt of it has happened, the operator can tell." : "")};
}

}  // namespace

Error to_error(const WriteRecord& write, std::int64_t now_ms, const std::string& recipients_json) {
  const auto context = context_of(write, recipients_json);
  if (write.state == WriteState::kCancelled || write.state == WriteState::kDiscarded)
    return taken_back(write).with_context(context);
  if (write.state == WriteState::kUnknown) {
    const auto* who = write.escalated ? "An operator was asked to look at the service and to decide"
                                      : "The host looks for its effect and, where it cannot tell, asks the operator";
    return Error("OutcomeUnknown",
                 fmt::format("It may have happened, or not: the answer was lost.{} Do not repeat it. {}; "
                             "proxy.write_status tells what became of {}.",
                             words(write), who, write.write_id))
        .with_context(context);
  }
  if (write.state == WriteState::kPendingApproval) {
    return Error("ApprovalRequired",
                 fmt::format("It waits for a person's approval and has not been sent. {} Do not send it again: "
                             "proxy.write_status tells what became of {}, proxy.cancel_write takes it back.",
                             safe_message(write.approval_reason), write.write_id))
        .with_context(context);
  }
  if (write.state == WriteState::kDeadLetter) {
    const bool scheduled = write.due_at_ms > 0 && !write.escalated;
    const auto when =
        scheduled ? fmt::format("The host tries {} again by itself at {}", write.write_id, format_time(write.due_at_ms))
                  : fmt::format("{} waits for the operator", write.write_id);
    return Error(
               "WriteFailed",
               fmt::format("{}{} {}; do not send it again, proxy.write_status tells what became of it{}.",
                           write.irrevocable ? "Its last attempt did not happen, but an earlier one may have happened."
                                             : "It did not happen.",
                           words(write), when, write.irrevocable ? "" : ", proxy.cancel_write takes it back"),
               scheduled,
               scheduled ? std::optional(std::max<std::int64_t>(write.due_at_ms - now_ms, 1000)) : std::nullopt)
        .with_context(context);
  }
  const std::string type = is_type_name(write.error_type) ? write.error_type : "WriteFailed";
  const auto message = write.error_message.empty() ? "The service refused it, and it did not happen."
                                                   : safe_message(write.error_message);
  return Error(type, message).with_context(context);
}

std::string error_json(const Error& error, const ServiceDefinition* definition) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.StartObject();
  json.Key("type");
  json.String(error.type());
  json.Key("message");
  json.String(is_valid_utf8(error.what()) ? std::string(error.what()) : printable(error.what()));
  json.Key("retryable");
  json.Bool(error.retryable());
  json.Key("retry_after");
  if (error.retry_after_ms()) {
    json.Int64((*error.retry_after_ms() + 999) / 1000);
  } else {
    json.Null();
  }
  json.Key("recovery");
  write_recovery(json, error.type(), definition);
  json.Key("context");
  const auto& context = error.context_json().empty() ? std::string("{}") : error.context_json();
  json.RawValue(context.data(), context.size(), rapidjson::kObjectType);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace krux
