// Uploads as an adapter sees them.
#pragma once

#include <kruxos/abi/uploads.h>

#include "core/upload/upload_reader.hpp"

namespace krux {

/// Lives as long as the adapter; `reader` outlives every call, nullptr: there are none.
class LentUploads {
 public:
  explicit LentUploads(UploadReader* reader);
  LentUploads(const LentUploads&) = delete;
  LentUploads& operator=(const LentUploads&) = delete;
  const krux_uploads* table() const { return reader_ ? &table_ : nullptr; }

 private:
  krux_status read(const krux_call* call, krux_str upload_id, std::uint64_t offset, char* buffer, std::size_t capacity,
                   std::size_t* got) noexcept;

  UploadReader* const reader_;
  krux_uploads table_{};
};

}  // namespace krux
