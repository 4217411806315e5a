// Takes the chunked coding off a request's body. Each byte is looked at once, in whatever pieces it arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace krux {

class ChunkedBody {
 public:
  enum class State {
    kMore,
    kDone,      ///< the trailers' end was there, too
    kBroken,    ///< this is no chunked coding
    kTooLarge,  ///< the body is larger than `most_bytes`
    kTooLong    ///< extensions and trailers have more than `most_extra` bytes together
  };
  ChunkedBody(std::uint64_t most_bytes, std::size_t most_extra) : left_(most_bytes), extra_left_(most_extra) {}

  /// Takes from the front of `bytes` what belongs to the body and appends the body itself to `out`. After anything but
  /// kMore it is not to be called again.
  State take(std::string_view& bytes, std::string& out);

 private:
  /// Behind what comes next.
  enum class At {
    kSize,       ///< its first digit
    kMoreSize,   ///< a further digit, or what ends it
    kBlank,      ///< of an extension's beginning: only ';' may follow
    kExtension,  ///< which nobody reads
    kSizeEnd,    ///< the line feed
    kData,
    kDataEnd,  ///< the carriage return, then the line feed
    kDataFeed,
    kTrailer,  ///< its name's first character, or the end
    kTrailerName,
    kTrailerValue,
    kTrailerEnd,
    kEnd  ///< the last line feed
  };
  State step(char c);
  State digit(char c);
  State extension(char c);
  State trailer(char c);
  State expect(char c, char expected, At next);
  State extra(At next);

  At at_ = At::kSize;
  std::uint64_t left_;  ///< of what the body may have
  std::uint64_t size_ = 0;
  int digits_ = 0;
  std::size_t extra_left_;
};

}  // namespace krux
