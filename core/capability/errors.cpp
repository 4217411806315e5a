#include "core/capability/errors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/capability/capability_handler.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/util/json_out.hpp"
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

std::string default_message(const ErrorType& type, const std::string& service) {
  if (type == ErrorCode::kNotConnected)
    return fmt::format("{0} refuses the account's token. The operator connects it again with: kruxos connect {0}.",
                       service);
  if (type == ErrorCode::kRateLimited)
    return fmt::format("{} allows no further call for now; try again later.", service);
  if (type == ErrorCode::kTimeout) return fmt::format("{} did not answer in time; try again.", service);
  if (type == ErrorCode::kMessageNotFound) return fmt::format("{} has no such item.", service);
  return fmt::format("{} failed without saying why ({}).", service, type.name());
}

/// Of a definition (RecoveryAction), or the host's own (RecoveryStep).
void write_action(JsonWriter& json, std::string_view action, std::string_view description,
                  std::string_view capability) {
  json.StartObject();
  put(json, "action", action);
  put(json, "description", description);
  if (!capability.empty()) put(json, "capability", capability);
  json.EndObject();
}

void write_recovery(JsonWriter& json, const ErrorType& type, const ServiceDefinition* definition) {
  json.StartArray();
  if (definition && definition->recovery.contains(type.name())) {
    for (const auto& a : definition->recovery.find(type.name())->second)
      write_action(json, a.action, a.description, a.capability);
  } else {
    for (const auto& s : type.facts().recovery) write_action(json, s.action, s.description, s.capability);
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

Error to_error(const CallFailure& failure, const std::string& service) {
  const auto type = failure.type ? failure.type : ErrorType(meaning_of(failure.status).shown);
  const bool retryable = type.facts().retryable;
  auto retry_after = failure.retry_after_ms;
  if (!retry_after && type == ErrorCode::kServiceUnavailable) retry_after = kUnavailableRetryMs;
  const auto message = failure.message.empty() ? default_message(type, service) : safe_message(failure.message);
  return {type, message, retryable, retryable ? retry_after : std::nullopt};
}

namespace {

std::string context_of(const WriteRecord& write, const std::string& recipients_json) {
  const bool cleaned = write.cleanup != Cleanup::kNone && write.cleanup != Cleanup::kPossible;
  const auto cleanup = cleaned ? fmt::format(R"(,"cleanup":"{}")", to_string(write.cleanup)) : "";
  const bool by_rule = write.state == WriteState::kPendingApproval && !write.asked_by_json.empty();
  const auto rule = by_rule ? "," + write.asked_by_json.substr(1, write.asked_by_json.size() - 2) : "";
  const auto until = write.approval_until_ms > 0
                         ? fmt::format(R"(,"approval_until":"{}")", format_time(write.approval_until_ms))
                         : std::string();
  const auto people = write.state == WriteState::kPendingApproval && write.approvals_needed > 1
                          ? fmt::format(R"(,"approvals_needed":{})", write.approvals_needed)
                          : std::string();
  return fmt::format(R"({{"write_id":{},"status":"{}"{}{}{}{}{}}})", json_string(write.write_id),
                     to_string(write.state), cleanup,
                     recipients_json.empty() ? "" : ",\"recipients\":" + recipients_json, until, people, rule);
}

/// Somebody has decided that nothing more is done about it.
Error taken_back(const WriteRecord& write) {
  const auto* who = write.decided_by.starts_with("agent:") ? "its agent" : "an operator";
  if (write.state == WriteState::kCancelled)
    return {ErrorCode::kWriteCancelled,
            fmt::format("It was taken back by {} before it was carried out, and will not happen.", who)};
  return {ErrorCode::kWriteDiscarded,
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
    return Error(ErrorCode::kOutcomeUnknown,
                 fmt::format("It may have happened, or not: the answer was lost.{} Do not repeat it. {}; "
                             "proxy.write_status tells what became of {}.",
                             words(write), who, write.write_id))
        .with_context(context);
  }
  if (write.state == WriteState::kPendingApproval) {
    return Error(ErrorCode::kApprovalRequired,
                 fmt::format("It waits for {}{} {}{} Do not send it again: proxy.write_status tells "
                             "what became of {}{}.",
                             approvals_in_words(write.approvals_needed),
                             write.irrevocable ? " before it is sent once more; an earlier attempt may have happened."
                                               : " and has not been sent.",
                             safe_message(write.approval_reason),
                             write.approval_until_ms > 0 ? fmt::format(" Without a decision it is rejected at {}.",
                                                                       format_time(write.approval_until_ms))
                                                         : "",
                             write.write_id, write.irrevocable ? "" : ", proxy.cancel_write takes it back"))
        .with_context(context);
  }
  if (write.state == WriteState::kDeadLetter) {
    const bool scheduled = write.due_at_ms > 0 && !write.escalated;
    const auto when =
        scheduled ? fmt::format("The host tries {} again by itself at {}", write.write_id, format_time(write.due_at_ms))
                  : fmt::format("{} waits for the operator", write.write_id);
    return Error(
               ErrorCode::kWriteFailed,
               fmt::format("{}{} {}; do not send it again, proxy.write_status tells what became of it{}.",
                           write.irrevocable ? "Its last attempt did not happen, but an earlier one may have happened."
                                             : "It did not happen.",
                           words(write), when, write.irrevocable ? "" : ", proxy.cancel_write takes it back"),
               scheduled,
               scheduled ? std::optional(std::max<std::int64_t>(write.due_at_ms - now_ms, 1000)) : std::nullopt)
        .with_context(context);
  }
  const auto type = write.error_type ? write.error_type : ErrorType(ErrorCode::kWriteFailed);
  const auto message = write.error_message.empty() ? "The service refused it, and it did not happen."
                                                   : safe_message(write.error_message);
  return Error(type, message).with_context(context);
}

std::string error_json(const Error& error, const ServiceDefinition* definition) {
  return json_object([&](JsonWriter& json) {
    put(json, "type", error.type().name());
    put(json, "message", error.what());
    put(json, "retryable", error.retryable());
    if (error.retry_after_ms()) put(json, "retry_after", (*error.retry_after_ms() + 999) / 1000);
    json.Key("recovery");
    write_recovery(json, error.type(), definition);
    put_raw(json, "context", error.context_json().empty() ? "{}" : error.context_json());
  });
}

}  // namespace krux
