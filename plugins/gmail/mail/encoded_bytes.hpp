// An attachment's bytes as they stand in a mail: base64 in lines of 76 characters, made while they are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bytes.hpp"

namespace gmail {

class EncodedBytes {
 public:
  /// `source` gives exactly `size` bytes. It may be empty where nothing is read.
  EncodedBytes(std::uint64_t size, ByteSource source) : size_(size), source_(std::move(source)) {}

  std::uint64_t encoded_size() const;

  /// How many bytes; 0 at the end. Throws ProxyError kStorage where the source gives more or fewer than it should, and
  /// what the source throws.
  std::size_t read(char* buffer, std::size_t capacity);

 private:
  void encode_more();

  std::uint64_t size_;
  ByteSource source_;
  std::uint64_t taken_ = 0;
  std::string lines_;
  std::size_t given_ = 0;  ///< of lines_
};

}  // namespace gmail
