#include "sync_state.hpp"

#include <algorithm>
#include <kruxos/kit/cursor.hpp>

#include "json.hpp"
#include "mail/utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestReason = 100;

}  // namespace

SyncState SyncState::load(const kruxos::SyncStore& store) {
  auto s = load_cursor<SyncState>(store, "sync");
  s.lost_times = std::max<std::int64_t>(0, s.lost_times);
  s.full_passes = std::max<std::int64_t>(0, s.full_passes);
  return s;
}

void SyncState::save(kruxos::SyncStore& store) const {
  save_cursor(store, "sync", *this);
}

Unreadable Unreadable::load(const kruxos::SyncStore& store) {
  return {load_cursor<std::vector<Entry>>(store, "unread")};
}

void Unreadable::save(kruxos::SyncStore& store) const {
  store.set_cursor("unread", entries.empty() ? "" : to_json(entries));
}

std::optional<Unreadable::Entry> Unreadable::note(const std::string& id, const std::string& why,
                                                  std::int64_t full_pass) {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
  auto& entry = at == entries.end() ? entries.emplace_back(Entry{id}) : *at;
  entry.why = why;
  cut_text(entry.why, kLongestReason);
  ++entry.tries;
  entry.full_pass = full_pass;
  if (entries.size() <= kMost) return std::nullopt;
  auto given_up = std::move(entries.front());
  entries.erase(entries.begin());
  return given_up;
}

bool Unreadable::has(std::string_view id) const {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
}

bool Unreadable::saw(std::string_view id, std::int64_t full_pass) {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
  if (at == entries.end()) return false;
  at->full_pass = full_pass;
  return true;
}

bool Unreadable::forget(std::string_view id) {
  return std::erase_if(entries, [&](const Entry& e) { return e.id == id; }) != 0;
}

}  // namespace gmail
