// What every emulator notes of a call and chooses faults by: its method, by the service's own name, and its parameters.
#pragma once

#include <map>
#include <string>

namespace krux::test::emulator {

struct CallRecord {
  std::string verb;                           // "GET", "POST"
  std::string method;                         // the service's name of it
  std::string encoding;                       // how the parameters came
  std::map<std::string, std::string> params;  // without tokens
  std::string token_from;                     // where the token stood, never the token

  bool has(const std::string& name) const { return params.count(name) != 0; }
  std::string text(const std::string& name) const {
    auto found = params.find(name);
    return found == params.end() ? "" : found->second;
  }
};

}  // namespace krux::test::emulator
