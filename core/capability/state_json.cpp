#include "core/capability/state_json.hpp"

#include <algorithm>
#include <span>

#include "core/util/text.hpp"

namespace krux {

void StateTeller::put_meta(JsonWriter& out, const StateEntry& entry) const {
  put(out, "key", entry.key);
  put(out, "version", entry.version);
  put(out, "updated_at", format_time(entry.updated_at_ms));
  if (name_of) put(out, "updated_by", name_of(entry.updated_by));
}

void StateTeller::put_whole(JsonWriter& out, const StateEntry& entry) const {
  put_meta(out, entry);
  put_raw(out, "value", entry.value_json);
}

std::size_t page_size(const std::vector<StateEntry>& entries, std::int64_t limit) {
  const auto most = std::min(entries.size(), static_cast<std::size_t>(limit));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < most; ++i) {
    bytes += entries[i].value_json.size();
    if (i > 0 && bytes > kMostPageBytes) return i;
  }
  return most;
}

std::string keys_json(const StateTeller& teller, const std::vector<StateEntry>& entries, std::int64_t limit,
                      bool details) {
  const auto shown = std::min(entries.size(), static_cast<std::size_t>(limit));
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < shown; ++i) keys.push_back(entries[i].key);
  return json_object([&](JsonWriter& out) {
    put(out, "keys", keys);
    if (details)
      put_objects(out, "entries", std::span(entries).first(shown),
                  [&](const StateEntry& entry) { teller.put_meta(out, entry); });
    put(out, "more", shown < entries.size());
    if (shown < entries.size()) put(out, "next_after", keys.back());
  });
}

}  // namespace krux
