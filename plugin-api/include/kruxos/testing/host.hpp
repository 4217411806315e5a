// kruxos/testing/host.hpp - what a host lends for an adapter's whole life: a scripted HTTP, and the log.
#pragma once
#include <kruxos/adapter/roles.hpp>
#include <kruxos/testing/call.hpp>
#include <kruxos/testing/http.hpp>
#include <kruxos/testing/misuse.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos::testing {

/// Answers each request by the script of expect(), and once that is used up by on_request. Without either nothing can
/// be reached. Must outlive the adapter that was made with it.
///
/// It keeps to the host's rules: what they forbid is refused as the host would, and gathered in `misuses`. So is what
/// the script did not expect or waited for in vain. A test that provokes a misuse takes it from there; what nobody has
/// taken is thrown as Misuse when the FakeHost is destroyed, which fails the test.
///
/// Sends may come from several threads of one call; everything else belongs to the test's thread.
class FakeHost {
 public:
  FakeHost() : exceptions_(std::uncaught_exceptions()) {
    http_ = {sizeof(krux_http_client), 0, this, &send, &send_many};
    log_table_ = {sizeof(krux_log), 0, this, &write_log};
    uploads_table_ = {sizeof(krux_uploads), 0, this, &read_upload};
    abi_ = {sizeof(krux_host), KRUX_ABI_MINOR, this, &query};
  }
  ~FakeHost() noexcept(false) {
    const auto left = check();
    if (!left.empty() && std::uncaught_exceptions() == exceptions_) throw Misuse(left);
  }
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  Host host() const { return Host(&abi_); }
  const krux_host* abi() const { return &abi_; }

  FakeClock clock;
  std::string api_base_url = "https://service.example/";  ///< as in the definition
  std::vector<std::string> hosts;                         ///< as in the definition
  std::vector<std::string> safe_posts;  ///< the paths of the definition's `http` section; * stands for anything
  std::string auth_header, auth_query;  ///< the name in the definition's `auth` section, where it gives one
  std::function<FakeAnswer(const FakeRequest&)> on_request;  ///< a service of the test's own
  std::vector<FakeRequest> requests;                         ///< all that were sent, in order
  std::vector<std::string> log;                              ///< the adapter's lines
  std::map<std::string, std::string> uploads;                ///< bytes by upload_id, for calls of a write alone
  Misuses misuses;

  /// The next request, in the order of these calls. `url` as the adapter gives it. The reference is valid until the
  /// next expect().
  Expectation& expect(std::string method, std::string url) {
    script_used_ = true;
    return script_.emplace_back(std::move(method), std::move(url));
  }
  /// What the script still waits for is a misuse; returns all misuses not yet taken as one text, empty when all is
  /// well.
  std::string check() {
    for (const auto& left : script_) misuses.add("The script waits for " + left.name() + ", which was never sent.");
    script_.clear();
    std::string all;
    for (const auto& one : misuses.take()) all += (all.empty() ? "" : "\n") + one;
    return all;
  }

 private:
  static FakeHost& of(void* self) noexcept { return *static_cast<FakeHost*>(self); }

  static krux_status send(void* self, const krux_call* call, const krux_http_request* request,
                          const krux_http_answer* out) noexcept {
    try {
      return of(self).exchange(call, *request, *out);
    } catch (...) {  // a check in the test's service: nothing may be thrown across the boundary
      of(self).misuses.add("The test's on_request threw an exception.");
      return KRUX_INTERNAL;
    }
  }
  static krux_status send_many(void* self, const krux_call* call, const krux_http_request* const* requests,
                               const krux_http_answer* const* answers, krux_status* statuses,
                               std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) statuses[i] = send(self, call, requests[i], answers[i]);
    return KRUX_OK;
  }
  static void write_log(void* self, std::int32_t, krux_str line) noexcept {
    const std::lock_guard lock(of(self).mutex_);
    of(self).log.emplace_back(from_abi(line));
  }
  static krux_status read_upload(void* self, const krux_call* call, krux_str id, std::uint64_t offset, char* buffer,
                                 std::size_t capacity, std::size_t* got) noexcept {
    const std::lock_guard lock(of(self).mutex_);
    const auto at = of(self).uploads.find(std::string(from_abi(id)));
    if (FakeCall::find(call) == nullptr || call->write_id.len == 0 || at == of(self).uploads.end()) {
      of(self).misuses.add("The upload " + std::string(from_abi(id)) +
                           " was read, but uploads are read by the write whose parameters name them alone.");
      return KRUX_INVALID;
    }
    const auto left = std::string_view(at->second).substr(std::min<std::uint64_t>(offset, at->second.size()));
    *got = left.copy(buffer, std::min<std::size_t>(capacity, 1 << 20));
    return KRUX_OK;
  }
  static const void* query(void* self, const char* iid) noexcept {
    if (std::strcmp(iid, KRUX_IID_HTTP_CLIENT) == 0) return &of(self).http_;
    if (std::strcmp(iid, KRUX_IID_UPLOADS) == 0) return &of(self).uploads_table_;
    if (std::strcmp(iid, KRUX_IID_LOG) == 0) return &of(self).log_table_;
    return nullptr;
  }

  krux_status exchange(const krux_call* abi_call, const krux_http_request& abi, const krux_http_answer& out) {
    auto request = request_of(abi);
    auto* call = FakeCall::find(abi_call);
    FakeAnswer answer;
    std::optional<FakeAnswer> refused;
    {
      const std::lock_guard lock(mutex_);
      refused = refuse(call, request);
    }
    // Without the lock: a source may read uploads.
    const bool bad_source = !refused && abi.body_source != nullptr && !read_source(*abi.body_source, request.body);
    if (bad_source)
      refused = FakeAnswer::failed(ErrorKind::kInternal, "The body's source failed or is not as long as it said.");
    {
      const std::lock_guard lock(mutex_);
      if (refused) {
        answer = *refused;
      } else {
        take(*call, request);
        answer = answer_to_last();
        if (answer.hangs) wait(call, abi.timeout_ms);
        if (!request.safe() && (answer.sent || !answer.error)) call->note_sent();
        if (!request.safe() && !answer.error && answer.status < 500) call->note_answered();
      }
    }
    return deliver(answer, abi.max_response_bytes, out);
  }

  static FakeRequest request_of(const krux_http_request& abi) {
    FakeRequest request{std::string(from_abi(abi.method)), std::string(from_abi(abi.url)), {}, {}};
    for (std::size_t i = 0; i < abi.header_count; ++i) {
      request.headers.emplace_back(from_abi(abi.headers[i].name), from_abi(abi.headers[i].value));
    }
    if (abi.body_source == nullptr) request.body = from_abi(abi.body);
    request.only_reads = KRUX_HAS(krux_http_request, &abi, flags) && (abi.flags & KRUX_HTTP_ONLY_READS) != 0;
    return request;
  }

  /// What the host does not let out.
  std::optional<FakeAnswer> refuse(const FakeCall* call, const FakeRequest& request) {
    const auto name = request.method + " " + request.url;
    const auto misused = [&](const std::string& why) {
      misuses.add(name + ": " + why);
      return FakeAnswer::failed(ErrorKind::kInvalid, why);
    };
    if (call == nullptr) {
      return misused("The call that this request belongs to has ended: use a Call only until your function returns.");
    }
    if (auto why = detail::header_problem(request.headers); !why.empty())
      return misused("The host refuses it: " + why + ".");
    if (auto why = detail::address_problem(api_base_url, hosts, request.url); !why.empty()) {
      return misused("The host refuses it: " + why + ".");
    }
    if (auto why = detail::credential_problem(auth_header, auth_query, request); !why.empty())
      return misused("The host refuses it: " + why + ".");
    if (request.only_reads && !detail::may_only_read(safe_posts, request)) {
      return misused("It is marked as one that only reads, and the definition's `http` section names no such POST.");
    }
    if (call->kind() == CallKind::kRead) {
      return misused("A read answers from the replica and sends nothing, unless its definition says `fetches`.");
    }
    if (call->kind() == CallKind::kFetch && !request.safe()) {
      return misused("A read that fetches sends GET, HEAD and OPTIONS alone, and POSTs that only read.");
    }
    if (call->should_end()) {
      auto answer = FakeAnswer::failed(call->cancelled ? ErrorKind::kCancelled : ErrorKind::kTimeout,
                                       "The call is over; nothing was sent.");
      answer.sent = false;
      return answer;
    }
    return std::nullopt;
  }

  void take(FakeCall& call, const FakeRequest& request) {
    const auto name = request.method + " " + request.url;
    const bool again = !request.safe() && !call.first_time(name + "\n" + request.body);
    if (again && call.kind() == CallKind::kWrite) {
      misuses.add(name +
                  ": It was sent twice by one execute_write. The host repeats a write, when that is safe; the adapter "
                  "never does.");
    }
    requests.push_back(request);
  }

  static bool read_source(const krux_source& source, std::string& body) {
    char buffer[4096];
    std::int64_t got = 0;
    while ((got = source.read(source.self, buffer, sizeof buffer)) > 0)
      body.append(buffer, static_cast<std::size_t>(got));
    return got == 0 && static_cast<std::int64_t>(body.size()) == source.total;
  }

  FakeAnswer answer_to_last() {
    const FakeRequest request = requests.back();  // a copy: on_request may clear them
    if (!script_.empty()) {
      const auto difference = script_.front().difference(request);
      if (difference.empty()) {
        auto answer = script_.front().answer();
        script_.pop_front();
        return answer;
      }
      misuses.add("The script expects " + script_.front().name() + ", but " + difference + ".");
      return FakeAnswer::unreachable();
    }
    if (on_request) return on_request(request);
    if (script_used_) misuses.add("The script has ended, but " + request.method + " " + request.url + " was sent.");
    return FakeAnswer::failed(ErrorKind::kNetwork, "There is no service.");
  }

  void wait(const FakeCall* call, std::uint32_t timeout_ms) {
    const auto end = clock.now_ms + (timeout_ms == 0 ? 30'000 : timeout_ms);
    clock.now_ms = std::max(clock.now_ms, std::min(end, call->abi()->deadline_ms));
  }

  static krux_status deliver(const FakeAnswer& answer, std::uint64_t most, const krux_http_answer& out) {
    const auto fail = [&](ErrorKind kind, std::string_view why) {
      out.failed(out.self, to_abi(why), answer.retry_after_ms);
      return static_cast<krux_status>(kind);
    };
    if (answer.error && !answer.cut_after) return fail(*answer.error, answer.message);
    std::vector<krux_header> headers;
    for (const auto& [name, value] : answer.headers) headers.push_back({to_abi(name), to_abi(value)});
    const auto stopped = [&] { return fail(ErrorKind::kCancelled, "The adapter takes no more of this answer."); };
    if (out.head(out.self, answer.status, headers.data(), headers.size()) != 0) return stopped();
    const auto body = std::string_view(answer.body).substr(0, answer.cut_after.value_or(std::string::npos));
    if (most != 0 && body.size() > most) return fail(ErrorKind::kUnavailable, "The answer is larger than it may be.");
    // In two parts, as it may come.
    for (const auto part : {body.substr(0, body.size() / 2), body.substr(body.size() / 2)}) {
      if (!part.empty() && out.body(out.self, to_abi(part)) != 0) return stopped();
    }
    return answer.error ? fail(*answer.error, answer.message) : KRUX_OK;
  }

  const int exceptions_;
  std::mutex mutex_;
  std::deque<Expectation> script_;
  bool script_used_ = false;
  krux_http_client http_{};
  krux_log log_table_{};
  krux_uploads uploads_table_{};
  krux_host abi_{};
};

}  // namespace kruxos::testing
