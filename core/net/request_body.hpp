#pragma once

#include <sodium.h>

#include <array>
#include <memory>
#include <string_view>

#include "core/net/http.hpp"

namespace krux {

/// The body of a request, part by part, checked against its announced length.
class RequestBody {
 public:
  explicit RequestBody(const HttpRequest& request) : request_(request) {}
  ~RequestBody() {
    if (buffer_) sodium_memzero(buffer_->data(), buffer_->size());  // what it carried may be a secret
  }
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  /// The next part, valid until the next call; empty at the end. False: the source failed or has another length than it
  /// said.
  bool next(std::string_view& part);

 private:
  static constexpr std::size_t kPartBytes = 64 * 1024;
  const HttpRequest& request_;
  std::int64_t given_ = 0;
  bool ended_ = false;
  std::unique_ptr<std::array<char, kPartBytes>> buffer_;
};

}  // namespace krux
