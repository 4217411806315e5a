#include "write.hpp"

#include "label_changes.hpp"
#include "message_text.hpp"
#include "sending.hpp"

namespace gmail {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;

rapidjson::Document params_of(std::string_view json) {
  auto params = parse(json);
  if (params.HasParseError() || !params.IsObject()) {
    throw ProxyError(ErrorKind::kInvalid, "The write's parameters are not one JSON object.").no_effect();
  }
  return params;
}

bool sends(std::string_view operation) {
  return operation == "email.send" || operation == "email.reply" || operation == "email.forward";
}

/// The id of the draft's message now; nothing where the draft is gone.
std::optional<std::string> draft_now(const kruxos::Call& call, const ApiClient& api, const std::string& draft_id) {
  try {
    const auto draft = api.get(call, "drafts.get", "gmail/v1/users/me/drafts/" + encoded(draft_id) + "?format=minimal");
    const auto* message = member(draft, "message");
    return std::string(message && message->IsObject() ? text_of(*message, "id") : std::string_view());
  } catch (const GmailError& error) {
    if (error.kind() == ErrorKind::kNotFound) return std::nullopt;
    throw;
  }
}

ProxyError draft_conflict(const char* sentence) {
  return ProxyError(ErrorKind::kConflict, sentence).no_effect();
}

std::string delete_draft(const kruxos::Call& call, const ApiClient& api, const kruxos::RollbackRequest& request) {
  const auto result = params_of(request.result_json);
  const auto id = std::string(text_of(result, "draft_id"));
  const auto now = draft_now(call, api, id);
  if (!now) {
    // Deleting it now would do nothing, and if it was sent, nothing can.
    if (request.force) return R"({"status":"ok","was_gone":true})";
    throw draft_conflict("The draft is gone from the mailbox: somebody has sent or deleted it.");
  }
  if (*now != text_of(result, "message_id") && !request.force) {
    throw draft_conflict("The draft was changed since it was made.");
  }
  api.send(call, "drafts.delete", "DELETE", "gmail/v1/users/me/drafts/" + encoded(id), "");
  return R"({"status":"ok"})";
}

}  // namespace

std::string Writer::execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const auto params = params_of(write.params_json);
  if (sends(write.operation)) return Sending(call, api_, uploads_, write, own_).send(params);
  if (write.operation == "email.draft") return Sending(call, api_, uploads_, write, own_).make_draft(params);
  if (LabelChanges::handles(write.operation)) return LabelChanges(call, api_).execute(write.operation, params);
  // For good: the adapter does not learn it by being asked again.
  throw refused("This adapter does not perform " + std::string(write.operation) + ".");
}

EffectFound Writer::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const auto params = params_of(write.params_json);
  if (sends(write.operation)) return Sending(call, api_, uploads_, write, own_).find_sent();
  if (write.operation == "email.draft") return Sending(call, api_, uploads_, write, own_).find_draft(params);
  if (LabelChanges::handles(write.operation)) return LabelChanges(call, api_).find(write.operation, params);
  return EffectFound::cannot_tell();
}

void Writer::clean_up(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  if (sends(write.operation)) Sending(call, api_, uploads_, write, own_).clean_up();
}

std::string Writer::rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  if (!LabelChanges::handles(write.operation)) return "{}";
  return LabelChanges(call, api_).point(write.operation, params_of(write.params_json));
}

bool Writer::supports_rollback(std::string_view operation) {
  return operation == "email.draft" || LabelChanges::handles(operation);
}

std::string Writer::rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const {
  if (request.operation == "email.draft") return delete_draft(call, api_, request);
  if (!LabelChanges::handles(request.operation)) {
    throw ProxyError(ErrorKind::kUnsupported, std::string(request.operation) + " cannot be undone.").no_effect();
  }
  return LabelChanges(call, api_).undo(request, params_of(request.params_json));
}

EffectFound Writer::find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const {
  if (LabelChanges::handles(request.operation)) {
    return LabelChanges(call, api_).find_undone(request, params_of(request.params_json));
  }
  const auto result = params_of(request.result_json);
  const bool there = draft_now(call, api_, std::string(text_of(result, "draft_id"))).has_value();
  return there ? EffectFound::absent() : EffectFound::found("{}");
}

}  // namespace gmail
