// The head of a request as it goes over the wire, and what a caller may put into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/net/authorization.hpp"
#include "core/net/http.hpp"
#include "core/net/secret.hpp"
#include "core/net/url.hpp"

namespace krux {

/// What is wrong with the method, the headers or the body's length, as a sentence; nothing when all is well. Headers
/// that belong to the host are wrong: credentials (Authorization, Cookie, Proxy-*), framing and connection handling.
std::optional<std::string> request_problem(const HttpRequest& request);

/// Whether `text` may stand in a header's value: visible ASCII, spaces, tabs and bytes from 0x80.
bool is_header_value(std::string_view text);

/// How many bytes the body has.
std::uint64_t body_bytes(const HttpRequest& request);

/// The head of a request that has no request_problem(), up to the empty line. `secret` stands where it says.
SecretBytes request_head(const HttpRequest& request, const Url& url, const RequestSecret& secret,
                         std::string_view user_agent);

}  // namespace krux
