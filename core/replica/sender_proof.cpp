#include "core/replica/sender_proof.hpp"

#include "core/definition/forms.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

bool is_own(ReplicaReader& rows, const CorrespondenceDefinition& where, const std::string& id) {
  if (where.sent_tag.empty()) return false;
  Query own;
  own.collection = where.collection;
  own.id = id;
  own.where.kind = Condition::Kind::kTag;
  own.where.text = where.sent_tag;
  return rows.query(own, [](const RowView&) { return false; }).total > 0;
}

}  // namespace

SenderProof sender_proof(ReplicaReader& rows, const CorrespondenceDefinition& where, const std::string& id) {
  const auto json = json_of_record(rows, where.collection, id);
  if (json.empty()) return SenderProof::kNoMessage;
  const auto record = parse_json(json, "a record", {16 << 20, 64});
  const auto proof = where.proof.empty() ? std::string_view() : member_text(record, where.proof);
  if (proof == kProvenSender) return SenderProof::kProven;
  if (!proof.empty()) return SenderProof::kUnproven;
  return is_own(rows, where, id) ? SenderProof::kProven : SenderProof::kUnsaid;
}

}  // namespace krux
