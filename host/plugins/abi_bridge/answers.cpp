#include "host/plugins/abi_bridge/answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

constexpr int kDeepestJson = 32;
constexpr std::size_t kLongestAccountId = 256;

CallFailure defect_of_adapter(const std::string& message) {
  return defect(with_advice_on_defect(message));
}

}  // namespace

CallFailure defect(std::string message) {
  return {KRUX_INTERNAL, false, {}, std::move(message), std::nullopt};
}

CallFailure lacks_role(const char* role) {
  return {KRUX_UNSUPPORTED, true, {}, fmt::format("The adapter has no {} role.", role), std::nullopt};
}

CallResult<bool> answer_without(Fn<"clean_up">, const AdapterWrite&) {
  return CallFailure{
      KRUX_REFUSED, true, {}, "The adapter has no cleanup role, although its definition says so.", std::nullopt};
}

CallResult<std::string> read_object(const LentCall& call, krux_status status, BoundedSink& out,
                                    std::string_view function) {
  if (out.overflowed())
    return defect_of_adapter(
        fmt::format("The adapter's answer to {} is larger than {} KiB.", function, out.max() / 1024));
  if (status != KRUX_OK) return call.failure(status);
  // It has ended with questions: what it wrote besides is no answer.
  if (call.context()->asked()) return std::string("{}");
  const JsonLimits limits{out.max(), kDeepestJson};
  std::string why;
  auto object = out.take();
  if (is_json_object(object, limits, &why)) return object;
  const auto replaced = replace_odd_text(object) + replace_odd_escapes(object);
  if (replaced > 0 && is_json_object(object, limits, &why)) {
    call.context()->note_replaced(replaced);
    return object;
  }
  return defect_of_adapter(fmt::format("The adapter's answer to {} is not one JSON object: {}", function, why));
}

CallResult<SyncStep> read_step(const LentCall& call, krux_status status, const krux_sync_step& step) {
  if (status != KRUX_OK) return call.failure(status);
  SyncStep out;
  switch (step.next) {
    case KRUX_SYNC_DONE:
      out.next = SyncStep::Next::kDone;
      break;
    case KRUX_SYNC_MORE:
      out.next = SyncStep::Next::kMore;
      break;
    case KRUX_SYNC_WAIT:
      out.next = SyncStep::Next::kWait;
      break;
    default:
      return defect_of_adapter(
          fmt::format("The adapter's sync step says {}, which is none of done, more and wait.", step.next));
  }
  if (step.wait_ms < 0 || step.complete_through_ms < 0)
    return defect_of_adapter("The adapter's sync step has a negative time.");
  out.wait_ms = std::min(step.wait_ms, limits::kLongestWaitMs);
  // The future cannot be in the replica.
  out.complete_through_ms = std::min(step.complete_through_ms, call.context()->clock().wall_ms());
  out.parts_total = step.parts_total;
  out.parts_done = std::min(step.parts_done, step.parts_total);
  return out;
}

namespace {

std::string reason_in(BoundedSink& out) {
  auto why = out.take();
  why.resize(std::min(why.size(), limits::kLongestReason));
  replace_odd_text(why);
  return why;
}

}  // namespace

CallResult<EffectFound> read_found(const LentCall& call, krux_status status, std::int32_t found, BoundedSink* out,
                                   std::string_view function) {
  if (status != KRUX_OK) return call.failure(status);
  EffectFound effect;
  switch (found) {
    case KRUX_EFFECT_FOUND:
      effect.answer = EffectFound::Answer::kFound;
      break;
    case KRUX_EFFECT_ABSENT:
      effect.answer = EffectFound::Answer::kAbsent;
      break;
    case KRUX_EFFECT_DISPROVED:
      effect.answer = EffectFound::Answer::kDisproved;
      break;
    case KRUX_CANNOT_TELL:
      if (out && !out->overflowed()) effect.why = reason_in(*out);
      return effect;
    default:  // a value that this host does not know is no knowledge
      return effect;
  }
  if (effect.answer != EffectFound::Answer::kFound || !out) return effect;
  auto result = read_object(call, status, *out, function);
  if (auto* failure = std::get_if<CallFailure>(&result)) return *failure;
  effect.result_json = std::get<std::string>(std::move(result));
  return effect;
}

CallResult<Identity> read_identity(const LentCall& call, krux_status status, BoundedSink& out) {
  auto object = read_object(call, status, out, "verify");
  if (auto* failure = std::get_if<CallFailure>(&object)) return *failure;
  const auto json = parse_json(std::get<std::string>(object), "the identity", {out.max(), kDeepestJson});
  const auto id = find_string(json, "account_id"), name = find_string(json, "display_name");
  if (!id || id->empty() || id->size() > kLongestAccountId) {
    return defect_of_adapter(
        fmt::format("The adapter's identity has no account_id of 1 to {} bytes.", kLongestAccountId));
  }
  Identity identity;
  identity.account_id = *id;
  identity.display_name = printable(name.value_or(*id));
  identity.principal = find_string(json, "principal").value_or("");
  const auto* scopes = find_member(json, "scopes");
  if (!scopes) return identity;
  if (!scopes->IsArray()) return defect_of_adapter("The scopes in the adapter's identity are not an array.");
  identity.scopes_known = true;
  for (const auto& scope : scopes->GetArray()) {
    if (!scope.IsString()) return defect_of_adapter("A scope in the adapter's identity is not a text.");
    identity.scopes.emplace_back(view(scope));
  }
  return identity;
}

}  // namespace krux
