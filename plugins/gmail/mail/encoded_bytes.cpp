#include "encoded_bytes.hpp"

#include <kruxos/adapter/error.hpp>

#include <algorithm>

#include "encoded_words.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLineBytes = 57;  ///< become 76 characters
constexpr std::size_t kPieceBytes = kLineBytes * 512;

}  // namespace

std::uint64_t EncodedBytes::encoded_size() const {
  // What no mail can hold, and what the sum below could not either.
  if (size_ >> 48 != 0) return size_;
  const auto lines = (size_ + kLineBytes - 1) / kLineBytes;
  return (size_ + 2) / 3 * 4 + lines * 2;
}

void EncodedBytes::encode_more() {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, size_ - taken_));
  // One byte beyond the end is asked for, so that a source that has more is seen.
  std::string bytes(std::max<std::size_t>(wanted, 1), '\0');
  std::size_t got = 0, more = 1;
  while (got < bytes.size() && more > 0) {
    more = source_ ? source_(taken_ + got, bytes.data() + got, bytes.size() - got) : 0;
    got += more;
  }
  if (got != wanted) {
    throw kruxos::ProxyError(kruxos::ErrorKind::kStorage,
                             "An attachment has not as many bytes as it is said to have; upload the file again.");
  }
  taken_ += got;
  lines_.clear();
  given_ = 0;
  for (std::string_view left(bytes.data(), got); !left.empty(); left.remove_prefix(std::min(left.size(), kLineBytes))) {
    lines_ += base64(left.substr(0, kLineBytes));
    lines_ += "\r\n";
  }
}

std::size_t EncodedBytes::read(char* buffer, std::size_t capacity) {
  if (given_ == lines_.size()) encode_more();
  const auto count = lines_.copy(buffer, capacity, given_);
  given_ += count;
  return count;
}

}  // namespace gmail
