// Slack's Web API over the host's HTTP client: POST forms, and what its answers mean.
#pragma once

#include <kruxos/adapter.hpp>
#include <kruxos/kit/http.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.hpp"

namespace slack {

struct Answer {
  rapidjson::Document body;     ///< with "ok": true
  std::int64_t service_ms = 0;  ///< Slack's own time by the Date header; 0: not told
  std::string scopes;           ///< X-OAuth-Scopes; empty: not told
};

/// A refusal in Slack's own words, kept for callers that treat some of them as success or as a condition of one
/// channel.
class SlackError : public kruxos::ProxyError {
 public:
  SlackError(kruxos::ErrorKind kind, const std::string& message, std::string name)
      : ProxyError(kind, message), name_(std::move(name)) {}
  const std::string& name() const { return name_; }  ///< "channel_not_found"; empty when Slack gave none

 private:
  std::string name_;
};

/// What an error of Slack's means: its kind, whether it certainly had no effect, the definition's error type, a
/// sentence. `body`: the answer that has it, or nullptr.
SlackError error_of(std::string_view method, std::string_view name, const Json* body);

/// The array `name` of an answer; throws kUnavailable when there is none. `what` names the answer for people.
const Json& items_of(const Answer& answer, std::string_view name, const std::string& what);

/// Where a list goes on.
struct Paging {
  std::string cursor;  ///< of the next page; empty: there is none
  bool has_more = false;
  /// Slack has shown everything. It may say that there is more and give no cursor (a plan that hides old messages).
  bool whole() const { return cursor.empty() && !has_more; }
};
/// Throws kUnavailable when the next page is the one that was `asked_with`.
Paging paging_of(const Answer& answer, std::string_view asked_with);

class ApiClient {
 public:
  explicit ApiClient(kruxos::HttpClient http) : http_(http) {}

  /// One request. Throws SlackError for anything but {"ok": true}; never repeats.
  Answer call(const kruxos::Call& call, std::string_view method, const Params& params) const;

 private:
  kruxos::HttpClient http_;
};

}  // namespace slack
