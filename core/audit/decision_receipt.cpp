#include "core/audit/decision_receipt.hpp"

#include <fmt/format.h>

#include "core/audit/chain.hpp"
#include "core/audit/signing_key.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

constexpr const char* kForm = "kruxos audit receipt 1\n";
constexpr JsonLimits kLimits{64 << 20, 16};

std::string message_of(JsonDocument& receipt) {
  receipt.RemoveMember("signature");
  return kForm + canonical_json(receipt);
}

std::string text_of(const JsonValue& object, const char* name) {
  return std::string(find_string(object, name).value_or(""));
}

AuditRow row_of(const JsonValue& json) {
  AuditRow row;
  row.seq = find_int(json, "seq").value_or(0);
  row.at_ms = find_int(json, "at_ms").value_or(0);
  row.source = find_int(json, "source").value_or(0);
  row.kind = text_of(json, "kind");
  row.agent_id = text_of(json, "agent_id");
  row.service = text_of(json, "service");
  row.account_id = text_of(json, "account_id");
  row.write_id = text_of(json, "write_id");
  row.body = text_of(json, "body");
  row.prev = hash_of_hex(text_of(json, "prev")).value_or(AuditHash{});
  row.hash = hash_of_hex(text_of(json, "hash")).value_or(AuditHash{});
  return row;
}

}  // namespace

std::string make_decision_receipt(const AuditStatus& log, std::string_view write_id, const RowsOfWrite& found,
                                  std::int64_t now_ms,
                                  const std::function<AuditLog::Signature(std::string_view message)>& sign) {
  auto receipt =
      parse_json(json_object([&](JsonWriter& out) {
                   put(out, "format", std::int64_t{1});
                   put(out, "log_id", log.log_id);
                   put(out, "write_id", write_id);
                   put(out, "made_at_ms", now_ms);
                   put(out, "head", log.head.seq);
                   put(out, "head_hash", hash_hex(log.head.hash));
                   put(out, "key", log.key);
                   put(out, "more", found.more);
                   put_objects(out, "rows", found.rows, [&](const AuditRow& row) { put_exported_row(out, row); });
                 }),
                 "the receipt", kLimits);
  const auto [key, signature] = sign(message_of(receipt));
  // The key may have been replaced meanwhile: what is signed names the one that has signed.
  if (key != log.key) {
    auto anew = log;
    anew.key = key;
    return make_decision_receipt(anew, write_id, found, now_ms, sign);
  }
  auto& allocator = receipt.GetAllocator();
  receipt.AddMember("signature", JsonValue(signature, allocator), allocator);
  return to_json(receipt);
}

DecisionReceipt check_decision_receipt(std::string_view text) {
  auto json = parse_json(text, "The receipt", kLimits);
  const auto* rows = json.IsObject() ? find_member(json, "rows") : nullptr;
  if (!rows || !rows->IsArray() || find_int(json, "format").value_or(0) != 1)
    throw invalid_input("This is no receipt of decisions that this program knows: kruxos receipt get makes them.");
  DecisionReceipt receipt;
  receipt.log_id = text_of(json, "log_id");
  receipt.write_id = text_of(json, "write_id");
  receipt.key = text_of(json, "key");
  receipt.made_at_ms = find_int(json, "made_at_ms").value_or(0);
  std::int64_t before = 0;
  for (const auto& member : rows->GetArray()) {
    auto row = row_of(member);
    if (chain_hash(row.prev, view_of(row)) != row.hash)
      receipt.problems.push_back(fmt::format("row {} is not what its hash says.", row.seq));
    if (row.write_id != receipt.write_id || row.seq <= before)
      receipt.problems.push_back(fmt::format("row {} does not belong there.", row.seq));
    before = row.seq;
    receipt.rows.push_back(std::move(row));
  }
  if (receipt.rows.empty() || receipt.rows.front().kind != "write.submitted")
    receipt.gaps.push_back("Its beginning is not in it: the log no longer had the row of its admission.");
  if (find_bool(json, "more").value_or(true))
    receipt.gaps.push_back("Its end is not in it: the log had more rows about it than a receipt takes.");
  const auto signature = text_of(json, "signature");
  if (!is_signed_by(receipt.key, message_of(json), signature))
    receipt.problems.push_back("it is not what its key has signed.");
  return receipt;
}

}  // namespace krux
