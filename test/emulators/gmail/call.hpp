// An API call as it was sent: which method, on whose mailbox, with which parameters and body.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulators/common/call.hpp"
#include "emulators/common/json_out.hpp"
#include "emulators/common/text.hpp"
#include "emulators/gmail/failure.hpp"

namespace krux::test::gmail {

struct Method;

// `params` holds what stands in the path, the query and, as text, at the top of the body, without mails themselves.
struct Call : CallRecord {
  const Method* target = nullptr;  // null: there is none at that address
  std::map<std::string, std::string> path;
  std::map<std::string, std::vector<std::string>> query;
  std::shared_ptr<const rapidjson::Document> body;  // an object; null when none was sent
  std::shared_ptr<const std::string> media;         // a mail that was uploaded
  std::string token;
  MaybeFailure failure;  // what is wrong with the request itself

  std::string in_path(const std::string& name) const { return value(path, name); }
  std::string in_query(const std::string& name) const {
    auto found = query.find(name);
    return found == query.end() || found->second.empty() ? "" : found->second.back();
  }
  std::vector<std::string> all_in_query(const std::string& name) const {
    auto found = query.find(name);
    return found == query.end() ? std::vector<std::string>() : found->second;
  }
  bool flag(const std::string& name) const { return in_query(name) == "true"; }

 private:
  static std::string value(const std::map<std::string, std::string>& map, const std::string& name) {
    auto found = map.find(name);
    return found == map.end() ? "" : found->second;
  }
};

// Never fails: what is wrong is in Call::failure. `encoding` is "json", "media", "multipart" or "batch".
Call read_call(const HttpRequest& request);

// The names and values of "a=1&a=2", in order. False: an escape is malformed.
bool read_query(std::string_view text, std::map<std::string, std::vector<std::string>>& into);

}  // namespace krux::test::gmail
