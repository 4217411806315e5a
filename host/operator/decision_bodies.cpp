#include "host/operator/decision_bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// The finding of a held write that was shown to whoever decides, if he names it.
std::string expected_finding(const JsonValue& body, bool held) {
  auto finding = text_member(body, "expected_finding", false);
  if (finding.empty()) return finding;
  if (!held) throw invalid_input("\"expected_finding\" goes with decisions about held writes.");
  constexpr std::array findings{"not_looked_yet", "found", "absent", "cannot_tell"};
  if (std::find(findings.begin(), findings.end(), finding) == findings.end())
    throw invalid_input("\"expected_finding\" must be not_looked_yet, found, absent or cannot_tell.");
  return finding;
}

}  // namespace

std::string text_member(const JsonValue& body, std::string_view name, bool required) {
  const auto* value = find_member(body, name);
  if (!value && !required) return {};
  if (!value || !value->IsString() || value->GetStringLength() == 0)
    throw invalid_input(fmt::format("\"{}\" must be a text that is not empty.", name));
  return std::string(view(*value));
}

bool flag_member(const JsonValue& body, std::string_view name) {
  const auto* value = find_member(body, name);
  if (value && !value->IsBool()) throw invalid_input(fmt::format("\"{}\" must be true or false.", name));
  return value && value->GetBool();
}

std::optional<WriteState> expected_state(const JsonValue& body) {
  const auto name = text_member(body, "expected_state", false);
  if (name.empty()) return std::nullopt;
  const auto state = parse_write_state(name);
  if (!state) throw invalid_input(fmt::format("There is no state \"{}\".", printable(name)));
  return state;
}

std::optional<WriteEvent> resolution_of(std::string_view name) {
  if (name == "resend") return WriteEvent::kOperatorResend;
  if (name == "discard") return WriteEvent::kOperatorDiscard;
  if (name == "happened") return WriteEvent::kOperatorHappened;
  return std::nullopt;
}

std::optional<StandingTerms> like_member(const JsonValue& body) {
  const auto* like = find_member(body, "like");
  if (!like) return std::nullopt;
  const auto seconds = like->IsObject() ? find_int(*like, "seconds") : std::nullopt;
  const auto* most = like->IsObject() ? find_member(*like, "most") : nullptr;
  if (!seconds || like->MemberCount() != (most ? 2u : 1u) || (most && !most->IsInt64()))
    throw invalid_input(R"("like" must be {"seconds": 3600, "most": 20}; "most" may be left out.)");
  StandingTerms terms;
  terms.for_ms = *seconds > 0 && *seconds <= StandingTerms::kLongest / kSecond ? *seconds * kSecond : 0;
  if (most) terms.most = most->GetInt64();
  terms.must_be_bounded();
  return terms;
}

DecisionRequest decisions_of(const JsonValue& body) {
  DecisionRequest asked;
  asked.decision = text_member(body, "decision", true);
  constexpr std::array decisions{"accept", "reject", "cancel", "resend", "discard", "happened", "rollback", "release"};
  if (std::find(decisions.begin(), decisions.end(), asked.decision) == decisions.end())
    throw invalid_input("\"decision\" must be accept, reject, cancel, resend, discard, happened, rollback or release.");
  asked.reason = text_member(body, "reason", false);
  asked.force = flag_member(body, "force");
  asked.like = like_member(body);
  if (asked.like && asked.decision != "accept") throw invalid_input("\"like\" goes with accept.");
  asked.held = flag_member(body, "held") || asked.decision == "release";
  if (asked.held && asked.decision != "release" && asked.decision != "discard" && asked.decision != "happened")
    throw invalid_input("\"held\" goes with release, discard and happened.");
  const auto* writes = find_member(body, "writes");
  if (!writes || !writes->IsArray() || writes->Empty() || writes->Size() > kMaxListed)
    throw invalid_input(fmt::format("\"writes\" must be a list of 1 to {} writes.", kMaxListed));
  for (const auto& write : writes->GetArray()) {
    if (!write.IsObject()) throw invalid_input("Each of \"writes\" must be an object with a write_id.");
    const auto expected = expected_state(write);
    if (expected && !resolution_of(asked.decision))
      throw invalid_input("\"expected_state\" goes with resend, discard and happened.");
    asked.writes.push_back({text_member(write, "write_id", true),
                            text_member(write, "content_hash", asked.decision == "accept"), expected,
                            expected_finding(write, asked.held)});
  }
  return asked;
}

OperatorApi::ReplicaOrder replica_order_of(const JsonValue& body) {
  constexpr std::int64_t most_records = 100'000'000, most_minutes = 1'440;
  OperatorApi::ReplicaOrder order{text_member(body, "account", false), 1'000, 30};
  const auto take = [&](const JsonValue& given, std::int64_t& into, std::int64_t least, std::int64_t most) {
    if (!given.IsInt64() || given.GetInt64() < least || given.GetInt64() > most) return false;
    into = given.GetInt64();
    return true;
  };
  for (const auto& member : body.GetObject()) {
    const auto name = view(member.name);
    if (name == "account") continue;
    if (name == "records" ? take(member.value, order.records, 0, most_records)
                          : name == "minutes" && take(member.value, order.minutes, 1, most_minutes))
      continue;
    if (name != "records" && name != "minutes")
      throw invalid_input(fmt::format("The body has no member \"{}\".", printable(name)));
    throw invalid_input(fmt::format("\"{}\" must be a whole number: {}.", name,
                                    name == "records" ? "how many records, 0 for all" : "1 to 1440"));
  }
  return order;
}

}  // namespace krux
