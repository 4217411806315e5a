#include "host/cli/write_pages.hpp"

#include <fmt/format.h>

#include <ostream>

#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kMostListed = 10'000;

}  // namespace

JsonDocument WritePages::next() {
  JsonDocument page(rapidjson::kArrayType);
  if (over_) return page;
  const auto answer = host_.get(fmt::format("/v1/writes?{}&limit={}{}", query_, at_once_,
                                            before_.empty() ? "" : "&before=" + url_encode(before_)));
  page.CopyFrom(items(answer.json, "writes"), page.GetAllocator());
  over_ = page.Size() < at_once_;
  if (!page.Empty()) before_ = text(page[page.Size() - 1], "write_id");
  over_ = over_ || before_.empty();
  return page;
}

ListedWrites all_writes(const ControlClient& host, const std::string& query) {
  ListedWrites listed;
  auto& all = listed.writes;
  WritePages pages(host, query);
  for (;;) {
    const auto page = pages.next();
    listed.whole = page.Empty() || all.Size() < kMostListed;
    if (page.Empty() || !listed.whole) return listed;
    for (const auto& write : page.GetArray()) all.PushBack(JsonValue(write, all.GetAllocator()), all.GetAllocator());
  }
  return listed;
}

int tell_of_older(const Session& session) {
  session.console.err() << fmt::format(
      "These are the newest {}; older ones are not shown. Narrow it down with --service, or take the pages of "
      "GET /v1/writes.\n",
      kMostListed);
  return kFailed;
}

}  // namespace krux::cli
