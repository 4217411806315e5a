// Addresses of requests, taken strictly: what is unusual is refused instead of understood in one of several ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krux {

/// https to any host, or http to a literal loopback address (127.0.0.0/8 or ::1; not a name).
struct Url {
  std::string scheme;  ///< "https" or "http"
  std::string host;    ///< lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string path;   ///< starts with '/', percent-encoded as it was given, no dot segments in any spelling
  std::string query;  ///< empty, or starts with '?'
  bool host_is_address = false;

  std::string authority() const;  ///< "notes.example", "127.0.0.1:8080", "[::1]:8080": what the Host header says
  std::string origin() const;     ///< "https://notes.example"; equal strings mean the same origin
  std::string target() const { return path + query; }
};

/// Throws krux::Error InvalidInput with the reason, never with the address itself (a query may hold a secret): anything
/// that is not an absolute http(s) address, user names, fragments, back slashes, white space and control characters,
/// dot segments (percent-encoded too), numeric host names, port 0, plain http beyond the loopback.
Url parse_url(std::string_view text);

/// An api_base_url: parse_url() without a query; a path that does not end in '/' gets one.
Url parse_base_url(std::string_view text);

/// `reference` is absolute, or relative to `base`; a relative one must stay below the base's path. Throws like
/// parse_url().
Url resolve_url(const Url& base, std::string_view reference);

/// What is left of `url` below `base` ("chat.postMessage"), its whole path where it is elsewhere on the same origin,
/// and
/// "//host/path" on another origin. Never the query.
std::string path_below(const Url& base, const Url& url);

/// Percent-decoding; '+' becomes a space where `form`. Malformed sequences are kept as they are.
std::string percent_decode(std::string_view text, bool form);

}  // namespace krux
