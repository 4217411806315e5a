// What agents give to the host for their writes to carry: files below the data directory, described in kruxos.db.
// docs/uploads.md tells the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "core/storage/reader_pool.hpp"
#include "core/upload/upload_reader.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

struct Upload {
  std::string upload_id;  ///< "up_" + UUIDv7
  std::string agent_id, filename, mime_type;
  std::string sha256;  ///< hexadecimal
  std::int64_t size = 0, created_at_ms = 0, expires_at_ms = 0;
};

struct UploadLimits {
  std::int64_t bytes = 32 << 20;            ///< of one upload
  std::int64_t agent_bytes = 256 << 20;     ///< of one agent's uploads together
  std::int64_t keep_ms = 24 * 3'600'000LL;  ///< from its last sending; longer while an open write names it
  std::int64_t agent_count = 1000;          ///< of one agent's uploads
};

/// Any thread; blocks for as long as the disk takes. Throws krux::Error: InvalidInput, DatabaseError.
class UploadStore final : public UploadReader {
 public:
  /// The directory (0700) is there and this object's alone: what it does not know there, it deletes.
  UploadStore(GroupCommit& store, Clock& clock, std::filesystem::path directory, UploadLimits limits = {});

  /// A file in the same directory that nobody else uses: where an upload arrives before it is added.
  std::filesystem::path arriving_file();
  /// Takes over the file that arrived, or deletes it. Durable on return. `filename`: without a directory, 1 to 255
  /// bytes of UTF-8; `mime_type`: "type/subtype", empty: unknown. InvalidInput for either, for a file that is too
  /// large, and where the agent has too much already.
  Upload add(const std::string& agent_id, const std::string& filename, const std::string& mime_type,
             const std::filesystem::path& arrived);

  /// Bytes that the agent's uploads may have beyond those that are there. One look into the database.
  std::int64_t room_of(const std::string& agent_id);

  /// Throws InvalidInput when the agent has no such upload, or has it no more.
  Upload get(const std::string& agent_id, const std::string& upload_id);

  std::size_t read(const CallContext& call, std::string_view upload_id, std::uint64_t offset, char* buffer,
                   std::size_t size) override;

  const UploadLimits& limits() const { return limits_; }

 private:
  void remove_strays();
  void remove_expired();
  bool is_awaited(const std::string& upload_id);
  Upload put(const Upload& upload);
  std::filesystem::path file_of(std::string_view upload_id) const { return directory_ / upload_id; }

  GroupCommit& store_;
  Clock& clock_;
  const std::filesystem::path directory_;
  const UploadLimits limits_;
  ReaderPool readers_;
  std::mutex mutex_;  ///< of what follows
  std::int64_t tidied_boot_ms_ = 0;
};

/// Why a name cannot be that of an upload; empty: it can. "it ..."
std::string why_not_filename(std::string_view filename);

}  // namespace krux
