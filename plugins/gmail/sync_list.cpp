// All ids, newest first: what is known is marked as seen, what is missing is fetched.
#include "message_text.hpp"
#include "sync.hpp"
#include "sync_step.hpp"

namespace gmail {
namespace {

// A page's token that is no longer known: so often the list is begun anew.
constexpr int kMostRestarts = 5;
constexpr int kMostRelists = 2;

std::vector<std::string> ids_of(const Json& answer) {
  std::vector<std::string> ids;
  const auto* list = member(answer, "messages");
  if (!list) return ids;
  if (!list->IsArray()) throw malformed("messages.list");
  for (const auto& item : list->GetArray()) {
    auto id = std::string(text_of(item, "id"));
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
  step.budget.spend();
  try {
    auto answer = api_.get(step.call, what, url);
    auto next = std::string(text_of(answer, "nextPageToken"));
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
    state.list_page.clear();
    state.listed = 0;
    return;
  }
  if (!know_page(step)) return;
  const auto listed = *listed_;
  std::vector<std::string> wanted;
  for (const auto& id : listed.ids) {
    if (state.compares) memberships_.saw(id);
    const auto json = step.store.reader().get(kMessages, id);
    auto known = json ? message_from_record(*json) : std::nullopt;
    const bool is_settled = known ? take_known(step, std::move(*known)) : step.unreadable.saw(id, state.full_passes);
    if (!is_settled) wanted.push_back(id);
  }
  if (!fetch(step, wanted)) return;
  state.list_page = listed.next;
  state.listed += static_cast<std::int64_t>(listed.ids.size());
  if (listed.next.empty()) state.phase = Phase::kClosing;
  listed_.reset();
  commit(step);
}

/// False where Gmail no longer knows the page: the list begins anew.
bool Sync::know_page(Step& step) {
  auto& state = step.state;
  if (listed_ && listed_->page == state.list_page) return true;
  std::string url = "gmail/v1/users/me/messages?includeSpamTrash=true&fields=messages/id,nextPageToken";
  if (state.since_ms > 0) url += "&q=" + encoded("after:" + std::to_string(state.since_ms / 1000));
  auto page = state.list_page;
  if (const auto answer = ask_page(step, "messages.list", url, page)) {
    listed_ = {state.list_page, page, ids_of(*answer)};
    return true;
  }
  state.list_page.clear();
  state.listed = 0;
  commit(step);
  return false;
}

/// False when its labels are in doubt.
bool Sync::take_known(Step& step, Message message) {
  if (!step.state.compares) return true;
  auto labels = message.labels;
  if (!memberships_.correct(message.id, labels)) return false;
  if (labels == message.labels) return true;
  message.labels = std::move(labels);
  put(step, message);
  if (step.uncommitted >= kRowsACommit) commit(step);
  return true;
}

/// Where messages were deleted while the list was read, it may have skipped others: once more, which costs little, for
/// what is known by now is not fetched. False when there is no need.
bool Sync::list_again(Step& step) {
  auto& state = step.state;
  if (!state.disturbed || state.relists >= kMostRelists) return false;
  state.disturbed = false;
  state.relists += 1;
  state.list_page.clear();
  state.listed = 0;
  state.phase = Phase::kListing;
  commit(step);
  return true;
}

/// What no list has shown is gone; in doubt Gmail is asked for each. False when the step's time is over.
bool Sync::erase_unseen(Step& step) {
  if (!step.state.compares) return true;
  if (!memberships_.whole()) {
    step.state.phase = Phase::kListing;  // the process is a new one
    return false;
  }
  const auto ids = unseen(step);
  if (step.state.disturbed) return fetch(step, ids);
  for (const auto& id : ids) {
    step.store.erase(kMessages, id);
    if (++step.uncommitted >= kRowsACommit) commit(step);
  }
  return true;
}

std::vector<std::string> Sync::unseen(Step& step) {
  std::vector<std::string> ids;
  kruxos::Query query;
  query.collection = kMessages;
  query.limit = 2000;
  query.count_limit = 1;
  for (bool more = true; more;) {
    step.call.throw_if_cancelled();
    std::uint32_t rows = 0, at_last = 0;
    auto last_ms = query.to_ms;
    need_whole(step.store.reader().query(query, [&](const kruxos::Row& row) {
      ++rows;
      at_last = row.order_ms == last_ms ? at_last + 1 : 1;
      last_ms = row.order_ms;
      if (std::string id(row.id); !memberships_.knows(id)) ids.push_back(std::move(id));
      return true;
    }));
    more = rows == query.limit;
    // On from the last row's time, without those of that time that were shown.
    query.offset = last_ms == query.to_ms ? query.offset + rows : at_last;
    query.to_ms = last_ms;
  }
  return ids;
}

}  // namespace gmail
