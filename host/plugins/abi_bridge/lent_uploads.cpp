#include "host/plugins/abi_bridge/lent_uploads.hpp"

#include <algorithm>

#include "host/plugins/abi_bridge/lent_call.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {

LentUploads::LentUploads(UploadReader* reader) : reader_(reader) {
  table_.size = sizeof(krux_uploads);
  table_.self = this;
  table_.read = [](void* self, const krux_call* call, krux_str upload_id, std::uint64_t offset, char* buffer,
                   std::size_t capacity, std::size_t* got) noexcept {
    return static_cast<LentUploads*>(self)->read(call, upload_id, offset, buffer, capacity, got);
  };
}

krux_status LentUploads::read(const krux_call* call, krux_str upload_id, std::uint64_t offset, char* buffer,
                              std::size_t capacity, std::size_t* got) noexcept {
  try {
    const auto context = LentCall::find(call);
    if (!context || context->ended()) return KRUX_CANCELLED;
    if (!got || !buffer) return KRUX_INVALID;
    const auto id = text_of(upload_id, "The upload's id", limits::kLongestName);
    *got = reader_->read(*context, id, offset, buffer, std::min(capacity, limits::kMostUploadBytes));
    return KRUX_OK;
  } catch (const Error& error) {
    return status_of(error);
  } catch (...) {
    return KRUX_INTERNAL;
  }
}

}  // namespace krux
