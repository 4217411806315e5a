// Errors as Google's API front end says them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulators/common/http_types.hpp"

namespace krux::test::gmail {

using namespace emulator;

struct Failure {
  int code = 400;
  std::string status;  // "INVALID_ARGUMENT"
  std::string reason;  // "invalidArgument"
  std::string message;
  std::string short_message;  // of the list `errors`, where it is another
  std::string domain = "global";
  std::string location, location_type;  // empty: not said
  std::string details;                  // a JSON array, or empty
  std::string page;                     // HTML in place of JSON, or empty
  std::vector<std::pair<std::string, std::string>> headers;
};
using MaybeFailure = std::optional<Failure>;

HttpAnswer to_answer(const Failure& failure);

Failure invalid_argument(std::string message);
Failure not_found(std::string message = "Requested entity was not found.");
// A name that the request may not have, in its query or, with a place, in its body.
Failure unknown_query_name(const std::string& name);
Failure unknown_body_name(const std::string& name, const std::string& place);
Failure invalid_value(const std::string& place, const std::string& type, const std::string& value);
Failure missing_credentials();
Failure invalid_credentials();
Failure missing_scope(const std::string& method);
Failure forbidden(std::string message);
// `kind`: "403_user", "403_rate" or "429".
Failure quota_exceeded(const std::string& kind, std::int64_t retry_at_ms);

// Of Google's front end, before the API has seen the request: a page, not JSON.
Failure request_too_large();

std::string format_rfc3339(std::int64_t ms);

}  // namespace krux::test::gmail
