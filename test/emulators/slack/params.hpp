// A Web API call as it was sent: which method, with which parameters and token, in which encoding.
#pragma once

#include <string>
#include <vector>

#include "emulators/common/call.hpp"
#include "emulators/common/http_types.hpp"
#include "emulators/common/text.hpp"

namespace krux::test::slack {

using namespace emulator;

// `encoding` is "query", "form" or "json", token_from "header", "form" or "none". Objects and arrays of a JSON body
// stand in `params` as JSON text.
struct Call : CallRecord {
  std::string token;
  std::string error;                  // set when the request was refused before any method was looked at
  std::vector<std::string> warnings;  // "missing_charset", "superfluous_charset"

  bool flag(const std::string& name) const {
    const std::string value = text(name);
    return value == "1" || value == "true" || value == "True" || value == "t";
  }
};

// Never fails: what is wrong with the request is in Call::error, by Slack's names.
Call read_call(const HttpRequest& request, const std::string& method);

}  // namespace krux::test::slack
