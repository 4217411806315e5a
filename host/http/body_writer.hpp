// A request's body on its way into a file. Internal to the HTTP server.
#pragma once

#include <memory>
#include <string_view>

#include "core/util/descriptor.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// What was not finished leaves no file.
class BodyWriter {
 public:
  /// Throws krux::Error DatabaseError.
  explicit BodyWriter(const BodyToFile& to);

  /// Into the page cache alone: whoever takes the file over makes it durable. False: the disk does not take it.
  bool write(std::string_view bytes);
  std::shared_ptr<BodyFile> finish();
  /// From the body's beginning, with what has arrived by now.
  std::int64_t allowed_ms() const;

 private:
  std::shared_ptr<BodyFile> file_;
  Descriptor fd_;
  std::int64_t timeout_ms_, least_rate_, written_ = 0;
};

}  // namespace krux
