// kruxos/testing/http.hpp - requests as the adapter made them, answers as a service or the network might give them, and
// the order in which they come.
#pragma once
#include <kruxos/adapter/error.hpp>
#include <kruxos/adapter/http.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos::testing {

struct FakeRequest {
  std::string method, url, body;
  Headers headers;
  bool only_reads = false;

  bool safe() const { return only_reads || method == "GET" || method == "HEAD" || method == "OPTIONS"; }
};

/// What comes of a request: a complete response, or with `error` a failed exchange. The named ones say what they stand
/// for; the members may be changed further.
struct FakeAnswer {
  int status = 200;
  std::string body;
  Headers headers;
  std::optional<ErrorKind> error;
  std::string message;
  std::int64_t retry_after_ms = -1;
  bool sent = true;                        ///< with an error: whether the service may have got the request
  bool hangs = false;                      ///< with an error: time passes until the request's time-out or the deadline
  std::optional<std::size_t> cut_after{};  ///< with an error: the response begins, and so many bytes of its body come

  /// A complete response.
  static FakeAnswer with(int status, std::string body, Headers headers = {}) {
    return {status, std::move(body), std::move(headers), {}, {}, -1};
  }
  static FakeAnswer json(int status, std::string body) {
    return with(status, std::move(body), {{"Content-Type", "application/json"}});
  }
  /// 429: the service refuses for now and says for how long.
  static FakeAnswer rate_limited(int retry_after_seconds) {
    return with(429, "", {{"Retry-After", std::to_string(retry_after_seconds)}});
  }

  /// An exchange that failed with `kind`. With kRateLimited, kAuth and kInvalid the host itself has refused to send.
  static FakeAnswer failed(ErrorKind kind, std::string why = "it failed", std::int64_t retry_after_ms = -1) {
    FakeAnswer answer{0, {}, {}, kind, std::move(why), retry_after_ms};
    answer.sent = kind != ErrorKind::kRateLimited && kind != ErrorKind::kAuth && kind != ErrorKind::kInvalid;
    return answer;
  }
  /// Nothing could be sent: the effect certainly did not happen.
  static FakeAnswer unreachable() {
    auto answer = failed(ErrorKind::kNetwork, "The connection could not be made; nothing was sent.");
    answer.sent = false;
    return answer;
  }
  /// The service has got the request (and may have done what it says), and its answer was lost.
  static FakeAnswer dropped() { return failed(ErrorKind::kNetwork, "The connection was closed before the answer."); }
  /// No answer comes: the clock moves to the request's time-out or the call's deadline, whichever is first.
  static FakeAnswer never() {
    auto answer = failed(ErrorKind::kTimeout, "No answer came in time.");
    answer.hangs = true;
    return answer;
  }
  /// `whole` begins to arrive and ends after `bytes` of its body.
  static FakeAnswer truncated(FakeAnswer whole, std::size_t bytes) {
    whole.error = ErrorKind::kNetwork;
    whole.message = "The connection was closed in the middle of the answer.";
    whole.cut_after = bytes;
    return whole;
  }
};

/// A request that a test expects, and what comes of it.
class Expectation {
 public:
  Expectation(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}

  Expectation& with_body(std::string body) {
    body_ = std::move(body);
    return *this;
  }
  /// Some part of the body. May be given several times.
  Expectation& with_body_part(std::string part) {
    parts_.push_back(std::move(part));
    return *this;
  }
  Expectation& answers(FakeAnswer answer) {
    answer_ = std::move(answer);
    return *this;
  }
  Expectation& answers(int status, std::string json) { return answers(FakeAnswer::json(status, std::move(json))); }

  const FakeAnswer& answer() const { return answer_; }
  std::string name() const { return method_ + " " + url_; }
  /// What of the request is not as expected; empty: it fits.
  std::string difference(const FakeRequest& request) const {
    if (request.method != method_ || request.url != url_) return request.method + " " + request.url + " was sent";
    if (body_ && request.body != *body_) return "its body should be " + *body_ + " and is " + request.body;
    for (const auto& part : parts_) {
      if (request.body.find(part) == std::string::npos)
        return "its body should hold " + part + " and is " + request.body;
    }
    return {};
  }

 private:
  std::string method_, url_;
  std::optional<std::string> body_;
  std::vector<std::string> parts_;
  FakeAnswer answer_ = FakeAnswer::json(200, "{}");
};

namespace detail {

inline std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

/// Why the host would not send a request with these headers; empty: it would.
inline std::string header_problem(const Headers& headers) {
  constexpr std::string_view hosts_own[] = {"accept-encoding",
                                            "authorization",
                                            "connection",
                                            "content-length",
                                            "cookie",
                                            "cookie2",
                                            "expect",
                                            "host",
                                            "http2-settings",
                                            "keep-alive",
                                            "te",
                                            "trailer",
                                            "transfer-encoding",
                                            "upgrade"};
  for (const auto& [name, value] : headers) {
    const auto folded = lower_ascii(name);
    for (const auto own : hosts_own) {
      if (folded == own) return "the header " + name + " is the host's to set: leave it out";
    }
    if (folded.starts_with("proxy-")) return "the header " + name + " is the host's to set: leave it out";
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    for (const char c : folded) {
      const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
      if (!fits) return "the header's name \"" + name + "\" has characters that do not belong there";
    }
    if (folded.empty()) return "a header has no name";
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte < 0x20 && c != '\t') || byte == 0x7F)
        return "the value of the header " + name + " has a control character";
    }
  }
  return {};
}

/// Why the host would not send a request that names by itself what carries the token; empty: it would.
inline std::string credential_problem(const std::string& header, const std::string& parameter,
                                      const FakeRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (!header.empty() && lower_ascii(name) == lower_ascii(header))
      return "the header " + name + " is the host's to set: leave it out";
  }
  auto query = std::string_view(request.url).substr(std::min(request.url.find('?'), request.url.size()));
  while (!parameter.empty() && !query.empty()) {
    query.remove_prefix(1);
    const auto pair = query.substr(0, query.find('&'));
    if (lower_ascii(pair.substr(0, pair.find('='))) == lower_ascii(parameter))
      return "the query's parameter " + parameter + " is the host's to set: leave it out";
    query.remove_prefix(pair.size());
  }
  return {};
}

inline bool glob_fits(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*')
    return !text.empty() && pattern.front() == text.front() && glob_fits(pattern.substr(1), text.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (glob_fits(pattern.substr(1), text.substr(i))) return true;
  }
  return false;
}

/// Whether the definition names a POST that only reads to this address, which is a relative one.
inline bool may_only_read(const std::vector<std::string>& paths, const FakeRequest& request) {
  const auto path = std::string_view(request.url).substr(0, request.url.find('?'));
  if (request.method != "POST") return false;
  for (const auto& one : paths) {
    if (glob_fits(one, path)) return true;
  }
  return false;
}

/// An address in the parts that decide whether the host sends to it.
struct Address {
  std::string origin, host, port, path, problem;
};

inline std::string percent_decoded(std::string_view text) {
  constexpr std::string_view figures = "0123456789abcdef0123456789ABCDEF";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? figures.find(text[i + 1]) : std::string_view::npos;
    const auto low = high != std::string_view::npos ? figures.find(text[i + 2]) : std::string_view::npos;
    out += low == std::string_view::npos ? text[i] : static_cast<char>(high % 16 * 16 + low % 16);
    if (low != std::string_view::npos) i += 2;
  }
  return out;
}

inline bool has_dot_segment(std::string_view path) {
  std::string decoded = percent_decoded(path);
  for (char& c : decoded) c = c == '\\' ? '/' : c;
  decoded = '/' + decoded + '/';
  return decoded.find("/./") != std::string::npos || decoded.find("/../") != std::string::npos;
}

/// An absolute address. Stricter than needed where a name is unusual: it is a test's own name.
inline Address parse_address(std::string_view url) {
  Address out;
  const auto scheme_end = url.find("://");
  const auto scheme = scheme_end == std::string_view::npos ? std::string() : lower_ascii(url.substr(0, scheme_end));
  if (scheme != "https" && scheme != "http")
    return {{}, {}, {}, {}, "only https is spoken, and http to a loopback address"};
  const auto rest = url.substr(scheme_end + 3);
  const auto authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) return {{}, {}, {}, {}, "it contains a user name or password"};
  const auto colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  out.host = lower_ascii(authority.substr(0, has_port ? colon : authority.size()));
  out.port = has_port ? std::string(authority.substr(colon + 1)) : scheme == "https" ? "443" : "80";
  const bool loopback = out.host.starts_with("127.") || out.host == "[::1]";
  if (out.host.empty()) out.problem = "it has no host";
  if (scheme == "http" && !loopback)
    out.problem = "plain http is spoken only with a literal loopback address; use https";
  out.origin = scheme + "://" + out.host + ":" + out.port;
  const auto path = rest.substr(authority.size());
  out.path = path.substr(0, path.find('?'));
  if (out.path.empty()) out.path = "/";
  if (has_dot_segment(out.path)) out.problem = "its path contains a dot segment";
  return out;
}

/// Whether `host` is what a definition's entry allows: "files.notes.example", "*.notes.example", "notes.example:8443".
inline bool allows(std::string_view entry, const Address& address) {
  const auto allowed = parse_address("https://" + std::string(entry.starts_with("*.") ? entry.substr(2) : entry));
  if (!address.origin.starts_with("https://") || allowed.port != address.port) return false;
  return entry.starts_with("*.") ? address.host.ends_with("." + allowed.host) : address.host == allowed.host;
}

/// Why the host would not send to `url`; empty: it would.
inline std::string address_problem(const std::string& base_url, const std::vector<std::string>& hosts,
                                   std::string_view url) {
  if (url.empty()) return "the address is empty";
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F) return "white space, control and non-ASCII characters must be percent-encoded";
    if (c == '\\' || c == '#') return "it contains a back slash or a fragment";
  }
  const auto base = parse_address(base_url);
  const auto first = url.find_first_of(":/?");
  const bool absolute = first != std::string_view::npos && url[first] == ':';
  if (!absolute && url.starts_with("//")) return "it names a host without a scheme";
  const auto root = base_url.substr(0, base_url.find('/', base_url.find("://") + 3));
  const auto whole = absolute               ? std::string(url)
                     : url.starts_with('/') ? root + std::string(url)
                                            : base_url + std::string(url);
  const auto address = parse_address(whole);
  if (!address.problem.empty()) return address.problem;
  if (!absolute && !address.path.starts_with(base.path)) return "a relative address must stay below " + base_url;
  if (address.origin == base.origin) return {};
  for (const auto& entry : hosts) {
    if (allows(entry, address)) return {};
  }
  return address.host + " is not among the hosts that the definition names";
}

}  // namespace detail
}  // namespace kruxos::testing
