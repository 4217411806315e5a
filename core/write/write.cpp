#include "core/write/write.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::array<const char*, kWriteStates> kNames = {
    "pending_approval", "held",   "buffered",  "executing", "unknown",     "dead_letter",
    "completed",        "failed", "cancelled", "rejected",  "rolled_back", "discarded"};

}  // namespace

const char* to_string(Cleanup cleanup) {
  constexpr const char* names[] = {"none", "possible", "pending", "done", "left"};
  return names[static_cast<int>(cleanup)];
}

const char* to_string(WriteState state) {
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<WriteState> parse_write_state(const std::string& text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<WriteState>(i);
  }
  return std::nullopt;
}

std::string operator_who(std::string_view name) {
  return "operator:" + std::string(name);
}

bool has_ended(WriteState state) {
  return state >= WriteState::kCompleted;
}

bool is_write_id(std::string_view id) {
  return is_id(kIdPrefix, id) || is_id(kRollbackPrefix, id) || is_id(kCleanupPrefix, id);
}

std::int64_t seq_of_id(const std::string& write_id) {
  for (const auto* prefix : {kRollbackPrefix, kCleanupPrefix}) {
    if (write_id.starts_with(prefix)) return order_of_id(prefix, write_id).value_or(-1);
  }
  return order_of_id(kIdPrefix, write_id).value_or(-1);
}

std::optional<SeqRange> seqs_of_beginning(std::string_view id_begins) {
  for (const std::string_view prefix : {kIdPrefix, kRollbackPrefix, kCleanupPrefix}) {
    if (!id_begins.starts_with(prefix)) continue;
    const auto filled = [&](std::string id) {
      id.insert(0, prefix);
      return id_begins.size() > id.size() ? std::string() : std::string(id_begins) + id.substr(id_begins.size());
    };
    const auto first = order_of_id(prefix, filled("00000000-0000-7000-8000-000000000000"));
    const auto last = order_of_id(prefix, filled("ffffffff-ffff-7fff-bfff-ffffffffffff"));
    if (first && last) return SeqRange{*first, *last};
  }
  return std::nullopt;
}

bool is_forced(const WriteRecord& undo) {
  return undo.params_json.starts_with("{\"force\":true");  // canonical: the host wrote it
}

std::string content_hash(const AccountRef& account, const std::string& operation, const std::string& params_json,
                         std::int64_t send_at_ms) {
  // One JSON array: no two different contents have the same text.
  std::string text = "[" + json_string(account.service) + "," + json_string(account.account_id) + "," +
                     std::to_string(account.generation) + "," + json_string(operation) + "," + params_json +
                     (send_at_ms == 0 ? "" : "," + std::to_string(send_at_ms)) + "]";
  return sha256_hex(text);
}

void must_be_in_reach(std::int64_t send_at_ms, std::int64_t now_ms) {
  if (send_at_ms < now_ms - kLateByMs)
    throw invalid_input("send_at lies in the past: " + format_time(send_at_ms) + ", and it is " + format_time(now_ms) +
                        " now. Name a time that is to come, or leave it out.");
  if (send_at_ms > now_ms + kLongestWindow)
    throw invalid_input("send_at lies too far ahead: " + format_time(send_at_ms) + ". A write waits for " +
                        std::to_string(kLongestWindow / kDay) + " days at most, until " +
                        format_time(now_ms + kLongestWindow) + ".");
}

std::int64_t window_of(const WriteContent& content, std::int64_t now_ms) {
  return std::max(content.delay_ms, content.send_at_ms - now_ms);
}

std::string ordering_key_of(const std::string& agent_id, const AccountRef& account, const std::string& order) {
  if (order.empty()) return {};
  return "[" + json_string(agent_id) + "," + json_string(account.service) + "," + json_string(account.account_id) +
         "," + std::to_string(account.generation) + "," + json_string(order) + "]";
}

std::string_view finding_of(const WriteRecord& write) {
  return write.evidence.empty() ? "not_looked_yet" : std::string_view(write.evidence);
}

std::string machine_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  // Without /proc every start counts as a new boot: the wall clock alone decides then.
  if (!std::getline(file, id) || id.empty()) return "unknown-" + random_hex(8);
  return id;
}

std::string rollback_problem(const WriteRecord& write) {
  const bool could = write.state == WriteState::kCompleted && write.rolls_back.empty() && write.rollback_ms > 0;
  if (!could || !write.result_json.empty()) return {};
  return "It was marked as happened by a person, so that the host does not know what it made at " +
         write.account.service + " and cannot undo it. Undo it at the service.";
}

std::int64_t undo_until_ms(const WriteRecord& write) {
  const bool can =
      write.state == WriteState::kCompleted && !write.point_json.empty() && rollback_problem(write).empty();
  return can ? write.ended_at_ms + write.rollback_ms : 0;
}

}  // namespace krux
