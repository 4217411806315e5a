#include "emulators/common/journal.hpp"

#include <algorithm>

namespace krux::test::emulator {

std::uint64_t Journal::begin(const CallRecord& call, std::int64_t now_ms) {
  Counters& counters = counters_[call.method];
  ++counters.calls;
  counters.last_minute.push_back(now_ms);
  while (counters.last_minute.front() <= now_ms - 60000) counters.last_minute.pop_front();
  counters.max_per_minute = std::max(counters.max_per_minute, static_cast<std::int64_t>(counters.last_minute.size()));

  Entry noted;
  noted.number = next_;
  noted.at_ms = now_ms;
  noted.call = call;
  entries_.push_back(std::move(noted));
  if (entries_.size() > capacity_) entries_.pop_front();
  return next_++;
}

Journal::Entry* Journal::entry(std::uint64_t number) {
  if (entries_.empty() || number < entries_.front().number || number > entries_.back().number) return nullptr;
  return &entries_[number - entries_.front().number];
}

void Journal::fault(std::uint64_t number, const std::string& kind) {
  if (Entry* found = entry(number)) found->fault = kind;
}

void Journal::finish(std::uint64_t number, int status, const std::string& error) {
  Entry* found = entry(number);
  if (!found) return;
  found->status = status;
  found->error = error;
  Counters& counters = counters_[found->call.method];
  if (status == 429) ++counters.limited;
  if (!error.empty()) ++counters.failed;
}

std::int64_t Journal::calls(const std::string& method) const {
  auto found = counters_.find(method);
  return found == counters_.end() ? 0 : found->second.calls;
}

void Journal::write_counters(JsonOut& out) const {
  out.object("methods");
  for (const auto& [method, counters] : counters_) {
    out.object(method).field("calls", counters.calls).field("limited", counters.limited);
    out.field("failed", counters.failed).field("max_per_minute", counters.max_per_minute).end_object();
  }
  out.end_object();
}

void Journal::write_log(const std::string& method, std::uint64_t after, JsonOut& out) const {
  out.array("requests");
  for (const Entry& entry : entries_) {
    if (entry.number <= after || (!method.empty() && entry.call.method != method)) continue;
    out.object().field("number", static_cast<std::int64_t>(entry.number)).field("at_ms", entry.at_ms);
    out.field("verb", entry.call.verb).field("method", entry.call.method).field("encoding", entry.call.encoding);
    out.field("token_from", entry.call.token_from).object("params");
    for (const auto& [name, value] : entry.call.params) out.field(name, value);
    out.end_object().field("status", entry.status).field("error", entry.error).field("fault", entry.fault);
    out.end_object();
  }
  out.end_array();
}

}  // namespace krux::test::emulator
