// A Web API call as it was sent: which method, with which parameters and token, in which encoding.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulators/slack/http_types.hpp"

namespace krux::test::slack {

struct Call {
  std::string verb;                           // "GET" or "POST"
  std::string method;                         // "chat.postMessage"
  std::string encoding;                       // "query", "form" or "json": how the parameters came
  std::map<std::string, std::string> params;  // without the token; objects and arrays of a JSON body as JSON text
  std::string token;
  std::string token_from;             // "header", "form" or "none"
  std::string error;                  // set when the request was refused before any method was looked at
  std::vector<std::string> warnings;  // "missing_charset", "superfluous_charset"

  bool has(const std::string& name) const { return params.count(name) != 0; }
  std::string text(const std::string& name) const {
    auto found = params.find(name);
    return found == params.end() ? "" : found->second;
  }
  bool flag(const std::string& name) const {
    const std::string value = text(name);
    return value == "1" || value == "true" || value == "True" || value == "t";
  }
};

// Never fails: what is wrong with the request is in Call::error, by Slack's names.
Call read_call(const HttpRequest& request, const std::string& method);

// "+" and "%41" undone; nothing when an escape is malformed or the bytes are not UTF-8.
std::optional<std::string> decode_form_component(std::string_view text);

}  // namespace krux::test::slack
