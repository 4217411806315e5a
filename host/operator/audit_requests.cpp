#include "host/operator/audit_requests.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLargestSeq = std::int64_t{1} << 53;

std::string text_of(const ServerRequest& request, std::string_view name) {
  return query_value(request.query, name).value_or("");
}

std::int64_t number_of(const ServerRequest& request, std::string_view name, std::int64_t unless_given,
                       std::int64_t least, std::int64_t most) {
  const auto text = text_of(request, name);
  if (text.empty()) return unless_given;
  std::int64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || value < least || value > most)
    throw invalid_input(fmt::format("{} must be a whole number from {} to {}.", name, least, most));
  return value;
}

std::int64_t time_of(const ServerRequest& request, std::string_view name) {
  const auto text = text_of(request, name);
  return text.empty() ? 0 : parse_time(text, name);
}

std::int64_t limit_of(const ServerRequest& request) {
  return number_of(request, "limit", AuditFilter{}.limit, 1, kMostAuditRows);
}

}  // namespace

AuditFilter audit_filter_of(const ServerRequest& request) {
  AuditFilter filter;
  filter.agent_id = text_of(request, "agent");
  filter.service = text_of(request, "service");
  filter.write_id = text_of(request, "write");
  filter.kind = text_of(request, "kind");
  filter.since_ms = time_of(request, "since");
  filter.until_ms = time_of(request, "until");
  filter.before_seq = number_of(request, "before", 0, 1, kLargestSeq);
  filter.limit = limit_of(request);
  return filter;
}

AuditPage audit_page_of(const ServerRequest& request) {
  return {number_of(request, "after", 0, 0, kLargestSeq), limit_of(request)};
}

}  // namespace krux
