// kruxos/kit/rest.hpp - a plain REST service: requests with their errors, lists of several pages, and an effect that is
// found by its marker.
//
//   const kit::RestClient api = kit::RestClient(host, "The tasks service").means(404, "TaskNotFound");
//   const auto task = api.get(call, "tasks/" + kit::encoded(id));
#pragma once
#include <kruxos/adapter/roles.hpp>
#include <kruxos/kit/http.hpp>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/paging.hpp>
#include <kruxos/kit/time.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos::kit {

/// Where a list is, and how it is cut into pages.
struct Listing {
  std::string url;                 ///< of the first page
  Paging paging = Paging::none();  ///< how the next one is named
  std::string rows{};              ///< where the rows stand in an answer: "tasks", "data.items"; empty: it is the array
};

/// The host's HTTP with JSON, and the failures of one service as ProxyErrors. Nothing is ever sent twice. Cheap enough
/// to be a member; any thread, within a call.
class RestClient {
 public:
  /// `who` begins sentences: "The tasks service".
  RestClient(Host host, std::string who) : host_(host), who_(std::move(who)) {}

  /// What a status means here besides what error_of() makes of it: the type of the definition, and another kind where
  /// one is given. The kinds kRefused, kInvalid and kNotFound refuse a write for good.
  RestClient& means(int status, std::string type, std::optional<ErrorKind> kind = std::nullopt) {
    meanings_.push_back({status, std::move(type), kind});
    return *this;
  }

  /// The answer to a request that may only succeed. Throws ProxyError for everything else.
  HttpResponse ask(const Call& call, const HttpRequest& request) const {
    auto response = answer_to(call, request);
    if (!is_success(response)) throw error(response);
    return response;
  }
  /// The object that it answers; without a body for the methods that have none.
  rapidjson::Document send(const Call& call, std::string method, std::string url, std::string body = {}) const {
    return object_of(ask(call, json_request(std::move(method), std::move(url), std::move(body))).body);
  }
  rapidjson::Document get(const Call& call, std::string url) const { return send(call, "GET", std::move(url)); }
  /// The object at `url`, or nothing where the service says that it is not there (404, 410).
  std::optional<rapidjson::Document> find(const Call& call, std::string url) const {
    const auto response = answer_to(call, json_request("GET", std::move(url)));
    if (response.status == 404 || response.status == 410) return std::nullopt;
    if (!is_success(response)) throw error(response);
    return object_of(response.body);
  }
  /// A request whose answer says nothing.
  void run(const Call& call, std::string method, std::string url, std::string body = {}) const {
    ask(call, json_request(std::move(method), std::move(url), std::move(body)));
  }

  /// One page of a list: gives each row, which is an object, to `on_row`, and returns the address of the next page;
  /// empty at the end. `date_ms`: the service's own time as of this page, where its header Date says it.
  template <class OnRow>
  std::string page(const Call& call, const Listing& list, const std::string& url, OnRow&& on_row,
                   std::optional<std::int64_t>* date_ms = nullptr) const {
    const auto response = ask(call, json_request("GET", url));
    if (const auto* date = response.header("Date"); date && date_ms) *date_ms = parse_http_date(*date);
    const auto answer = parse(response.body);
    const auto* rows = answer.HasParseError() ? nullptr : member_at(answer, list.rows);
    if (!rows || !rows->IsArray()) throw ProxyError(ErrorKind::kUnavailable, who_ + " did not answer with a list.");
    for (const auto& row : rows->GetArray()) {
      if (!row.IsObject()) throw ProxyError(ErrorKind::kUnavailable, who_ + " has listed something that is no object.");
      on_row(row);
    }
    return list.paging.next(url, response, answer, rows->Size());
  }

  /// Looks through the whole list for the row whose member has this text. Says found with what `result` makes of the
  /// row; absent behind the last page alone; cannot_tell where the member is no text in some row, where there are more
  /// than `most_pages`, or where a row may have moved to a page that was read before (Paging::is_by_place). What
  /// `result` throws, it throws.
  EffectFound find_by(const Call& call, const Listing& list, std::string_view name, std::string_view text,
                      const std::function<std::string(const Json&)>& result, int most_pages = 20) const {
    std::string url = list.url;
    std::optional<std::string> found;
    bool understood = true, any = false;
    for (; !url.empty() && most_pages > 0; --most_pages) {
      url = page(call, list, url, [&](const Json& row) {
        any = true;
        const auto* marker = member(row, name);
        understood = understood && (!marker || marker->IsString() || marker->IsNull());  // else it may be the one
        if (!found && text_of(row, name) == text) found = result(row);
      });
      if (found) return EffectFound::found(*std::move(found));
    }
    if (!understood) return EffectFound::cannot_tell(who_ + " has listed something that is not as it should be.");
    if (!url.empty()) return EffectFound::cannot_tell(who_ + " lists too much to be looked through.");
    if (any && list.paging.is_by_place())
      return EffectFound::cannot_tell(who_ + " lists by places, and a row may have moved while they were read.");
    return EffectFound::absent();
  }

  const Host& host() const noexcept { return host_; }

 private:
  struct Meaning {
    int status;
    std::string type;
    std::optional<ErrorKind> kind;
  };

  HttpResponse answer_to(const Call& call, const HttpRequest& request) const {
    auto result = host_.http().send(call, request);
    if (!result.ok()) throw failure_of(result);
    return std::move(result.response);
  }
  ProxyError error(const HttpResponse& response) const {
    auto made = error_of(response, who_);
    for (const auto& [status, type, kind] : meanings_) {
      if (status != response.status) continue;
      if (kind) {
        const auto retry_after = made.retry_after_ms();
        const bool none = made.has_no_effect();
        made = ProxyError(*kind, made.what()).retry_after_ms(retry_after);
        if (none) made.no_effect();
      }
      made.type(type);
    }
    return made;
  }
  rapidjson::Document object_of(std::string_view text) const {
    return parse_object(text, who_ + " answered with something that is no JSON object.");
  }

  Host host_;
  std::string who_;
  std::vector<Meaning> meanings_;
};

/// The same values in both, as JSON has them: whether what a write left behind is as it was.
inline bool same_members(const Json& a, const Json& b, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    const auto *in_a = member(a, name), *in_b = member(b, name);
    if ((in_a == nullptr) != (in_b == nullptr) || (in_a && json_text(*in_a) != json_text(*in_b))) return false;
  }
  return true;
}

}  // namespace kruxos::kit
