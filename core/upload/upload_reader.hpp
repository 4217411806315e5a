// Uploads as the adapter that sends them sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krux {

class CallContext;

/// Any thread.
class UploadReader {
 public:
  virtual ~UploadReader() = default;
  /// Up to `size` bytes from `offset` on; 0 at the end. Throws krux::Error: InvalidInput when the call is not that of a
  /// write whose parameters name the upload, DatabaseError.
  virtual std::size_t read(const CallContext& call, std::string_view upload_id, std::uint64_t offset, char* buffer,
                           std::size_t size) = 0;
};

}  // namespace krux
