#include "host/certify/service_requests.hpp"

#include <fmt/format.h>
#include <rapidjson/pointer.h>

#include "core/bundle/placeholders.hpp"
#include "core/net/secret.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/certify/check.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kLargestAnswer = 16 << 20;
constexpr std::int64_t kTimeoutMs = 10'000;

/// Of the kit's requests, which have nothing to do with the checks' clock.
const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::string fill_text(std::string_view text, const Values& values) {
  return fill_placeholders(text, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

void fill_value(JsonValue& value, const Values& values, JsonDocument::AllocatorType& memory) {
  if (value.IsString()) {
    const auto filled = fill_text(view(value), values);
    value.SetString(filled.data(), static_cast<rapidjson::SizeType>(filled.size()), memory);
  } else if (value.IsArray()) {
    for (auto& item : value.GetArray()) fill_value(item, values, memory);
  } else if (value.IsObject()) {
    for (auto& member : value.GetObject()) fill_value(member.value, values, memory);
  }
}

/// As part of a path or query: what would end or split it is percent-encoded.
std::string fill_path(std::string_view path, const Values& values) {
  return fill_placeholders(path, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    std::string out;
    for (const unsigned char c : found->second) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                         c == '.' || c == '_' || c == '~';
      out += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return out;
  });
}

}  // namespace

std::string fill_json(std::string_view json, const Values& values) {
  auto document = parse_json(json, "the manifest's value");
  fill_value(document, values, document.GetAllocator());
  return to_json(document);
}

void add_members(Values& values, std::string_view prefix, std::string_view object_json) {
  if (!is_json_object(object_json, {kLargestAnswer, 64})) return;
  const auto object = parse_json(object_json, "the answer", {kLargestAnswer, 64, OddText::kReplaced});
  for (const auto& member : object.GetObject()) {
    if (!member.value.IsString() && !member.value.IsNumber()) continue;
    values[fmt::format("{}.{}", prefix, view(member.name))] =
        member.value.IsString() ? std::string(view(member.value)) : to_json(member.value);
  }
}

std::string ServiceRequests::ask(const BundleRequest& request, const Values& values) const {
  HttpRequest http;
  http.method = request.method;
  http.max_response_bytes = kLargestAnswer;
  if (!request.body_json.empty()) {
    http.body = fill_json(request.body_json, values);
    http.headers.emplace_back("Content-Type", "application/json");
  }
  const auto call = std::make_shared<CallContext>(CallOwner{}, system_clock(), system_clock().boot_ms() + kTimeoutMs);
  HttpResponse answer;
  std::string problem;
  try {
    const auto url = parse_url(root_ + fill_path(request.path, values));
    const auto outcome = transport_->send(call, url, http, authorization_.secret(), answer);
    if (outcome.status != KRUX_OK) problem = outcome.message;
  } catch (const Error& error) {
    problem = error.what();
  }
  if (problem.empty() && answer.status >= 400)
    problem = fmt::format("HTTP {}: {}", answer.status, printable(std::string_view(answer.text).substr(0, 200)));
  if (!problem.empty())
    throw not_checked(fmt::format("the manifest's request {} {} to the fake service failed: {}", request.method,
                                  request.path, problem));
  return answer.text;
}

std::string ServiceRequests::look(const BundleMeasure& measure, const Values& values) const {
  const auto text = ask(measure.request, values);
  try {
    const auto document = parse_json(text, "the fake service's answer", {kLargestAnswer, 64, OddText::kReplaced});
    const auto* at = rapidjson::Pointer(measure.pointer).Get(document);
    return at ? canonical_json(*at) : "null";
  } catch (const Error& error) {
    throw not_checked(fmt::format("the answer to {} {} is of no use: {}", measure.request.method, measure.request.path,
                                  error.what()));
  }
}

std::int64_t ServiceRequests::count(const BundleMeasure& measure, const Values& values) const {
  const auto value = parse_json(look(measure, values), "the value", {kLargestAnswer, 64});
  if (value.IsArray()) return value.Size();
  if (value.IsObject()) return value.MemberCount();
  if (value.IsInt64()) return value.GetInt64();
  throw not_checked(fmt::format("{} {} has no array, object or number at \"{}\" to count effects by",
                                measure.request.method, measure.request.path, measure.pointer));
}

bool ServiceRequests::answers(const std::string& url, std::int64_t timeout_ms) const {
  const auto call = std::make_shared<CallContext>(CallOwner{}, system_clock(), system_clock().boot_ms() + timeout_ms);
  HttpResponse answer;
  const auto outcome = transport_->send(call, parse_url(url), {}, "", answer);
  return outcome.status == KRUX_OK && answer.status == 200;
}

}  // namespace krux::certify
