#include "host/cli/write_pages.hpp"

#include <fmt/format.h>

#include <ostream>

#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kMostListed = 10'000;

}  // namespace

std::optional<HostAnswer> WritePages::next() {
  if (over_) return std::nullopt;
  auto answer = host_.get(fmt::format("/v1/writes?{}&limit={}{}", query_, at_once_,
                                      before_.empty() ? "" : "&before=" + url_encode(before_)));
  const auto& page = items(answer.json, "writes");
  if (page.Empty()) return std::nullopt;
  before_ = text(page[page.Size() - 1], "write_id");
  over_ = page.Size() < at_once_ || before_.empty();
  return answer;
}

bool all_writes(const ControlClient& host, const std::string& query, JsonDocument& into) {
  WritePages pages(host, query);
  while (const auto page = pages.next()) {
    if (into.Size() >= kMostListed) return false;
    for (const auto& write : items(page->json, "writes").GetArray())
      into.PushBack(JsonValue(write, into.GetAllocator()), into.GetAllocator());
  }
  return true;
}

int tell_of_older(const Session& session) {
  session.console.err() << fmt::format(
      "These are the newest {}; older ones are not shown. Narrow it down with --service, or take the pages of "
      "GET /v1/writes.\n",
      kMostListed);
  return kFailed;
}

}  // namespace krux::cli
