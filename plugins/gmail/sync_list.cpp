// All ids, newest first: what is known is marked as seen, what is missing is fetched.
#include "message_text.hpp"
#include "sync.hpp"
#include "sync_step.hpp"

namespace gmail {
namespace {

// A page's token that is no longer known: so often the list is begun anew.
constexpr int kMostRestarts = 5;

std::vector<std::string> ids_of(const Json& answer) {
  std::vector<std::string> ids;
  const auto* list = member(answer, "messages");
  if (!list) return ids;
  if (!list->IsArray()) throw malformed("messages.list");
  for (const auto& item : list->GetArray()) {
    auto id = clean(text_of(item, "id"));
    if (!id.empty() && id.size() <= 128) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace

/// One page; `page` is which, and becomes the next one. Nothing when Gmail no longer knows it: the list begins anew.
std::optional<rapidjson::Document> Sync::ask_page(Step& step, std::string_view what, std::string url,
                                                  std::string& page) {
  url += "&maxResults=" + std::to_string(options_.page_size);
  if (!page.empty()) url += "&pageToken=" + encoded(page);
  --step.requests_left;
  try {
    auto answer = api_.get(step.call, what, url);
    auto next = clean(text_of(answer, "nextPageToken"));
    if (next.size() > 4096 || (!next.empty() && next == page)) throw malformed(what);
    page = std::move(next);
    return answer;
  } catch (const GmailError& error) {
    const bool expired = error.kind() == kruxos::ErrorKind::kInvalid && error.http_status() == 400 && !page.empty();
    if (!expired || ++step.state.restarts > kMostRestarts) throw;
    page.clear();
    return std::nullopt;
  }
}

void Sync::list_page(Step& step) {
  auto& state = step.state;
  if (state.compares && !memberships_.whole()) {  // the process is a new one
    state.phase = Phase::kComparing;
    return;
  }
  std::string url = "users/me/messages?includeSpamTrash=true&fields=messages/id,nextPageToken";
  if (state.since_ms > 0) url += "&q=" + encoded("after:" + std::to_string(state.since_ms / 1000));
  auto page = state.list_page;
  const auto answer = ask_page(step, "messages.list", url, page);
  if (!answer) {
    state.list_page.clear();
    state.listed = 0;
    return commit(step);
  }
  const auto ids = ids_of(*answer);
  std::vector<std::string> missing;
  for (const auto& id : ids) {
    const auto json = step.store.reader().get(kMessages, id);
    auto known = json ? message_from_record(*json) : std::nullopt;
    if (known) {
      take_known(step, std::move(*known));
    } else if (!step.unreadable.has(id)) {
      missing.push_back(id);
    }
  }
  if (!fetch(step, missing)) return;
  state.list_page = page;
  state.listed += static_cast<std::int64_t>(ids.size());
  if (page.empty()) state.phase = Phase::kClosing;
  commit(step);
}

void Sync::take_known(Step& step, Message message) {
  if (step.state.compares) memberships_.correct(message.id, message.labels);
  put(step, message);
  if (step.uncommitted >= kRowsACommit) commit(step);
}

}  // namespace gmail
