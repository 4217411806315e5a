#include "host/plugins/entry_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/util/text.hpp"

namespace krux {
namespace {

#define KRUX_TEXT_OF_(x) #x
#define KRUX_TEXT_OF(x) KRUX_TEXT_OF_(x)
static_assert(kEntrySymbol == KRUX_TEXT_OF(KRUX_ENTRY));

constexpr std::size_t kLongestText = 64;

/// A copy of at most kLongestText bytes: a text that never ends is cut, and refused for its form.
std::string copy_text(const char* text) {
  return text ? std::string(text, strnlen(text, kLongestText)) : std::string();
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && text.size() <= 32 && letter(text[0]) && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

std::optional<std::uint64_t> parse_version(std::string_view text) {
  std::uint64_t all = 0;
  for (int part = 0; part < 3; ++part) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > 999'999) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (part < 2) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    all = all * 1'000'000 + number;
  }
  return text.empty() ? std::optional(all) : std::nullopt;
}

std::string check_entry(const krux_plugin_entry& entry, std::uint64_t bytes, EntryInfo& info) {
  // `size` is read before anything else may be: a table of another make may end right behind it.
  if (bytes < offsetof(krux_plugin_entry, abi_minor) || entry.magic != KRUX_MAGIC) {
    return "Its entry table does not begin with the magic number; build it with KRUXOS_PLUGIN() or fill in KRUX_MAGIC.";
  }
  if (entry.size > bytes) {
    return fmt::format("Its entry table is truncated: it says that it has {} bytes, and its symbol has {}.", entry.size,
                       bytes);
  }
  if (!KRUX_HAS(krux_plugin_entry, &entry, create)) {
    return fmt::format("Its entry table is truncated: it has {} bytes, {} are needed.", entry.size,
                       offsetof(krux_plugin_entry, create) + sizeof(entry.create));
  }
  if (!entry.describe || !entry.create) return "Its entry table lacks describe or create.";
  info = {copy_text(entry.service), copy_text(entry.prefix), copy_text(entry.version), entry.abi_minor};
  if (!is_name(info.service) || !is_name(info.prefix)) {
    return fmt::format("Its service \"{}\" or prefix \"{}\" is not of the form [a-z][a-z0-9_]{{0,31}}.",
                       printable(info.service), printable(info.prefix));
  }
  if (!parse_version(info.version)) {
    return fmt::format("Its version \"{}\" is not of the form MAJOR.MINOR.PATCH.", printable(info.version));
  }
  return {};
}

}  // namespace krux
