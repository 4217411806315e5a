#include "host/gateway/rpc_params.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {

RpcParams::RpcParams(std::string_view text, std::span<const std::string_view> allowed) {
  if (text.empty()) return;
  std::string why;
  auto taken = take_apart(text, {}, why);
  if (!taken) throw invalid_input(fmt::format("\"params\" is not valid: {}.", why));
  parts_ = *std::move(taken);
  for (const auto& member : parts_.members) {
    if (std::find(allowed.begin(), allowed.end(), member.name) != allowed.end()) continue;
    throw invalid_input(fmt::format("This method has no parameter \"{}\"; it takes {}.", printable(member.name),
                                    allowed.empty() ? "none" : fmt::format("{}", fmt::join(allowed, ", "))));
  }
}

const JsonSpan* RpcParams::find(std::string_view name) const {
  const auto* found = parts_.find(name);
  return found && found->kind != JsonKind::kNull ? found : nullptr;
}

std::string RpcParams::text(std::string_view name, std::size_t max_bytes) const {
  const auto* found = find(name);
  if (!found) return {};
  if (found->kind != JsonKind::kString) throw invalid_input(fmt::format("\"{}\" must be a string.", name));
  if (found->text.size() > max_bytes)
    throw invalid_input(
        fmt::format("\"{}\" has {} bytes, at most {} are allowed.", name, found->text.size(), max_bytes));
  if (const auto why = why_odd_text(found->text); !why.empty())
    throw invalid_input(fmt::format("\"{}\" {}.", name, why));
  return found->text;
}

std::string RpcParams::required(std::string_view name) const {
  auto value = text(name);
  if (value.empty()) throw invalid_input(fmt::format("\"{}\" is missing.", name));
  return value;
}

std::optional<std::int64_t> RpcParams::number(std::string_view name, std::int64_t least, std::int64_t most) const {
  const auto* found = find(name);
  if (!found) return std::nullopt;
  std::int64_t value = 0;
  const auto raw = found->raw;
  const auto read = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  const bool whole = found->kind == JsonKind::kNumber && read.ec == std::errc() && read.ptr == raw.data() + raw.size();
  if (!whole || value < least || value > most)
    throw invalid_input(fmt::format("\"{}\" must be a whole number from {} to {}.", name, least, most));
  return value;
}

std::optional<std::vector<std::string>> RpcParams::texts(std::string_view name) const {
  const auto* found = find(name);
  if (!found) return std::nullopt;
  std::string why;
  const auto list = take_apart(found->raw, {}, why);
  if (found->kind != JsonKind::kArray || !list || list->count > kMaxParts)
    throw invalid_input(fmt::format("\"{}\" must be a list of strings.", name));
  std::vector<std::string> all;
  for (const auto& member : list->members) {
    if (member.value.kind != JsonKind::kString)
      throw invalid_input(fmt::format("\"{}\" must be a list of strings.", name));
    all.push_back(member.value.text);
  }
  return all;
}

}  // namespace krux
