#include "core/net/request_body.hpp"

namespace krux {

bool RequestBody::next(std::string_view& part) {
  part = {};
  if (ended_) return true;
  if (!request_.body_source) {
    part = request_.body;
    ended_ = true;
    return true;
  }
  if (!buffer_) buffer_ = std::make_unique<std::array<char, kPartBytes>>();
  const auto got = request_.body_source(buffer_->data(), buffer_->size());
  if (got < 0 || got > static_cast<std::int64_t>(buffer_->size())) return false;
  given_ += got;
  if (given_ > request_.body_length) return false;
  if (got == 0) {
    ended_ = true;
    return given_ == request_.body_length;
  }
  part = {buffer_->data(), static_cast<std::size_t>(got)};
  return true;
}

}  // namespace krux
