// The kit's own requests to the author's fake service: preparing, changing, counting.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/bundle/manifest.hpp"
#include "core/net/http_transport.hpp"
#include "core/util/json.hpp"

namespace krux::certify {

/// What placeholders stand for, by their names.
using Values = std::map<std::string, std::string, std::less<>>;

/// `json` with the placeholders in its texts filled in; the others' texts are escaped.
std::string fill_json(std::string_view json, const Values& values);

/// Adds the object's members that are texts or numbers as `prefix`.NAME.
void add_members(Values& values, std::string_view prefix, std::string_view object_json);

/// Any thread. Throws CheckSkipped (not checked) where the fake service refuses or does not answer: what the manifest
/// says of it is of no use then.
class ServiceRequests {
 public:
  ServiceRequests(std::shared_ptr<HttpTransport> transport, std::string root, Authorization authorization)
      : transport_(std::move(transport)), root_(std::move(root)), authorization_(std::move(authorization)) {}

  /// The answer's body. Anything but a status below 400 is a failure.
  std::string ask(const BundleRequest& request, const Values& values) const;
  /// The value that the measure names, as canonical JSON; "null" where there is none.
  std::string look(const BundleMeasure& measure, const Values& values) const;
  /// The same as a number: a number, or how many an array or object holds.
  std::int64_t count(const BundleMeasure& measure, const Values& values) const;

  /// Whether a GET of `url` answers 200 within `timeout_ms`.
  bool answers(const std::string& url, std::int64_t timeout_ms) const;

 private:
  const std::shared_ptr<HttpTransport> transport_;
  const std::string root_;  ///< "http://127.0.0.1:1234"
  const Authorization authorization_;
};

}  // namespace krux::certify
