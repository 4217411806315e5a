// Disconnections and their receipts, as the operator sees them.
#include <fmt/format.h>

#include <map>

#include "core/util/json_out.hpp"
#include "core/util/log.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostShown = 200;

void put_head(JsonWriter& out, const Receipt& receipt) {
  put(out, "receipt_id", receipt.receipt_id);
  put(out, "service", receipt.service);
  put(out, "account_id", receipt.account_id);
  put(out, "account_name", receipt.display_name);
  put(out, "principal", receipt.principal);
  put(out, "generation", std::int64_t{receipt.generation});
  put(out, "who", receipt.who);
  put(out, "forced", receipt.forced);
  put(out, "begun_at_ms", receipt.begun_at_ms);
  put(out, "ended_at_ms", receipt.ended_at_ms);
  put(out, "outcome", receipt.outcome);
  put(out, "message", receipt.message);
}

/// How many there are by their present state, and, of those that somebody still has to decide about or that ended in
/// another way than cancelled, which.
void put_writes(JsonWriter& out, const std::vector<ReceiptWrite>& writes) {
  std::map<std::string, std::int64_t> counts;
  std::vector<ReceiptWrite> shown;
  for (const auto& write : writes) {
    ++counts[write.is];
    if (write.is != "cancelled" && shown.size() < kMostShown) shown.push_back(write);
  }
  put_key(out, "writes_by_state");
  out.StartObject();
  for (const auto& [state, n] : counts) put(out, state, n);
  out.EndObject();
  put_objects(out, "writes", shown, [&](const ReceiptWrite& write) {
    put(out, "write_id", write.write_id);
    put(out, "operation", write.operation);
    put(out, "summary", write.summary);
    put(out, "was", write.was);
    put(out, "state", write.is);
  });
}

std::string receipt_json(const Receipt& receipt) {
  return json_object([&](JsonWriter& out) {
    put_key(out, "receipt");
    out.StartObject();
    put_head(out, receipt);
    put_objects(out, "steps", receipt.steps, [&](const ReceiptStep& step) {
      put(out, "step", step.step);
      put(out, "outcome", step.outcome);
      put(out, "message", step.message);
      put(out, "at_ms", step.at_ms);
    });
    put_writes(out, receipt.writes);
    out.EndObject();
  });
}

}  // namespace

std::string OperatorService::disconnect(const std::string& service, const Disconnect& order, const std::string& who) {
  DisconnectOrder wanted;
  wanted.force = order.force;
  wanted.who = who;
  if (order.wait_ms) wanted.wait_ms = *order.wait_ms;
  const auto receipt = parts_.services.disconnect(service, order.account, wanted);
  log_event(spdlog::level::info, {"disconnected", service, receipt.account_id, "", ""},
            fmt::format("{} disconnected {} {}, receipt {}", who, service, receipt.account_id, receipt.receipt_id));
  return receipt_json(receipt);
}

std::string OperatorService::receipts(std::int64_t limit) {
  return json_object([&](JsonWriter& out) {
    put_objects(out, "receipts", parts_.receipts.list(limit), [&](const Receipt& receipt) { put_head(out, receipt); });
  });
}

std::string OperatorService::receipt(const std::string& receipt_id) {
  const auto receipt = parts_.receipts.get(receipt_id);
  if (!receipt)
    throw not_found(
        fmt::format("There is no receipt {}: kruxos disconnect --receipts shows them.", printable(receipt_id)));
  return receipt_json(*receipt);
}

}  // namespace krux
