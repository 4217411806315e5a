#include <algorithm>
#include <string>

#include "core/oauth/token_answer.hpp"
#include "fuzz.hpp"

namespace {

using krux::fuzz::require;

void check(const krux::TokenResult& result) {
  if (const auto* answer = std::get_if<krux::TokenAnswer>(&result)) {
    require(!answer->access_token.empty(), "an answer has an access token");
    require(!answer->expires_in_ms || (*answer->expires_in_ms >= 0 && *answer->expires_in_ms < 1LL << 52),
            "a span can be added to a time");
    return;
  }
  const auto& failure = std::get<krux::TokenFailure>(result);
  require(!failure.message.empty(), "a failure says why");
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  };
  require(std::all_of(failure.error.begin(), failure.error.end(), word), "the service's word is one");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  require(std::none_of(failure.message.begin(), failure.message.end(), control), "a message moves no cursor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const int status : {200, 400, 500}) {
    for (const char* at : {"", "authed_user"}) {
      auto body = krux::make_secret(text);
      check(krux::parse_token_answer(status, body, {at, size % 2 == 1, size % 3 == 0, {"user"}}));
    }
  }
  return 0;
}
