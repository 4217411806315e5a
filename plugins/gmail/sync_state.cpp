#include "sync_state.hpp"

#include <algorithm>

#include "json.hpp"
#include "mail/utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestReason = 100;

}  // namespace

SyncState SyncState::load(const kruxos::SyncStore& store) {
  SyncState s;
  const auto json = parse(store.cursor("sync").value_or("{}"));
  // A cursor that does not parse was not written by this version: begin anew.
  if (json.HasParseError() || !json.IsObject()) return s;
  s.phase = static_cast<Phase>(
      std::clamp<std::int64_t>(integer_of(json, "phase"), 0, static_cast<std::int64_t>(Phase::kSteady)));
  s.open = flag_of(json, "open");
  s.history_id = text_of(json, "history_id");
  s.history_page = text_of(json, "history_page");
  s.run_began_ms = integer_of(json, "run_began_ms");
  s.caught_up_ms = integer_of(json, "caught_up_ms");
  s.list_page = text_of(json, "list_page");
  s.listed = integer_of(json, "listed");
  s.total = integer_of(json, "total");
  s.compares = flag_of(json, "compares");
  s.since_ms = integer_of(json, "since_ms");
  s.whole_ms = integer_of(json, "whole_ms");
  s.losses = static_cast<int>(integer_of(json, "losses"));
  s.disturbed = flag_of(json, "disturbed");
  s.relists = static_cast<int>(integer_of(json, "relists"));
  s.restarts = static_cast<int>(integer_of(json, "restarts"));
  s.lost_ms = integer_of(json, "lost_ms");
  s.lost_times = std::max<std::int64_t>(0, integer_of(json, "lost_times"));
  return s;
}

void SyncState::save(kruxos::SyncStore& store) const {
  store.set_cursor("sync", ObjectWriter()
                               .integer("phase", static_cast<int>(phase))
                               .flag("open", open)
                               .text("history_id", history_id)
                               .text("history_page", history_page)
                               .integer("run_began_ms", run_began_ms)
                               .integer("caught_up_ms", caught_up_ms)
                               .text("list_page", list_page)
                               .integer("listed", listed)
                               .integer("total", total)
                               .flag("compares", compares)
                               .integer("since_ms", since_ms)
                               .integer("whole_ms", whole_ms)
                               .integer("losses", losses)
                               .flag("disturbed", disturbed)
                               .integer("relists", relists)
                               .integer("restarts", restarts)
                               .integer("lost_ms", lost_ms)
                               .integer("lost_times", lost_times)
                               .done());
}

Unreadable Unreadable::load(const kruxos::SyncStore& store) {
  Unreadable out;
  const auto json = parse(store.cursor("unread").value_or("[]"));
  if (json.HasParseError() || !json.IsArray()) return out;
  for (const auto& entry : json.GetArray()) {
    out.entries.push_back({std::string(text_of(entry, "id")), std::string(text_of(entry, "why")),
                           static_cast<int>(integer_of(entry, "tries"))});
  }
  return out;
}

void Unreadable::save(kruxos::SyncStore& store) const {
  std::string json = "[";
  for (const auto& entry : entries) {
    if (json.size() > 1) json += ',';
    json += ObjectWriter().text("id", entry.id).text("why", entry.why).integer("tries", entry.tries).done();
  }
  store.set_cursor("unread", entries.empty() ? "" : json + "]");
}

void Unreadable::note(const std::string& id, const std::string& why) {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
  auto& entry = at == entries.end() ? entries.emplace_back(Entry{id, {}, 0}) : *at;
  entry.why = why;
  cut_text(entry.why, kLongestReason);
  ++entry.tries;
  if (entries.size() > kMost) entries.erase(entries.begin());
}

bool Unreadable::has(std::string_view id) const {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
}

bool Unreadable::forget(std::string_view id) {
  return std::erase_if(entries, [&](const Entry& e) { return e.id == id; }) != 0;
}

}  // namespace gmail
