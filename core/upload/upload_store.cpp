#include "core/upload/upload_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "core/adapter/call.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "up_", kArriving = "arriving-";
constexpr std::int64_t kTidyEveryMs = 10 * 60'000;
/// A write that was about to be submitted with an upload when that expired still gets it.
constexpr std::int64_t kGraceMs = 3'600'000;
constexpr const char* kUploadColumns =
    "upload_id, agent_id, filename, mime_type, size, sha256, created_at_ms, expires_at_ms";

Upload upload_row(const Statement& row) {
  Upload upload;
  upload.upload_id = row.text(0);
  upload.agent_id = row.text(1);
  upload.filename = row.text(2);
  upload.mime_type = row.text(3);
  upload.size = row.integer(4);
  upload.sha256 = row.text(5);
  upload.created_at_ms = row.integer(6);
  upload.expires_at_ms = row.integer(7);
  return upload;
}

[[noreturn]] void fail(const fs::path& file) {
  const auto reason = std::strerror(errno);
  throw database_error(
      fmt::format("The upload could not be stored or read: {}: {}. Check the directory's rights and the space left.",
                  file.string(), reason));
}

/// What a file holds, made durable.
struct Contents {
  std::int64_t size = 0;
  std::string sha256;
};

Contents settle(const fs::path& file) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) fail(file);
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  Contents contents;
  std::vector<unsigned char> buffer(256 << 10);
  for (;;) {
    const auto n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file);
    if (n == 0) break;
    crypto_hash_sha256_update(&state, buffer.data(), static_cast<std::size_t>(n));
    contents.size += n;
  }
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  for (const auto byte : hash) contents.sha256 += fmt::format("{:02x}", byte);
  return contents;
}

bool is_mime_type(std::string_view text) {
  const auto slash = text.find('/');
  const auto token = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isalnum(c) || std::strchr("!#$&-^_.+", c) != nullptr;
    });
  };
  return text.size() <= 127 && slash != std::string_view::npos && token(text.substr(0, slash)) &&
         token(text.substr(slash + 1));
}

std::string megabytes(std::int64_t bytes) {
  return bytes % (1 << 20) == 0 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} bytes", bytes);
}

/// Removes what arrived unless it was taken over.
struct Arrived {
  explicit Arrived(const fs::path& f) : file(f) {}
  ~Arrived() { ::unlink(file.c_str()); }
  Arrived(const Arrived&) = delete;
  Arrived& operator=(const Arrived&) = delete;
  const fs::path& file;
};

std::optional<Upload> find(SQLite::Database& db, const std::string& condition, const Upload& like) {
  Statement row(db.getHandle(), fmt::format("SELECT {} FROM uploads WHERE {}", kUploadColumns, condition));
  row.bind_all(like.agent_id, like.sha256, like.filename, like.mime_type);
  return row.step() ? std::optional(upload_row(row)) : std::nullopt;
}

constexpr const char* kHeld = "SELECT coalesce(sum(size), 0), count(*) FROM uploads WHERE agent_id = ?1";

void refuse_too_many(SQLite::Database& db, const Upload& upload, const UploadLimits& limits) {
  Statement held(db.getHandle(), kHeld);
  held.bind(1, upload.agent_id);
  held.step();
  const bool too_large = held.integer(0) + upload.size > limits.agent_bytes;
  if (!too_large && held.integer(1) < limits.agent_count) return;
  throw invalid_input(
      fmt::format("The uploads of this agent would {}. They go {} hours after they were sent, once no waiting write "
                  "names them.",
                  too_large ? "have more than " + megabytes(limits.agent_bytes)
                            : fmt::format("be more than {}", limits.agent_count),
                  limits.keep_ms / 3'600'000));
}

}  // namespace

std::string why_not_filename(std::string_view filename) {
  if (filename.empty() || filename.size() > 255) return "it has 1 to 255 bytes";
  if (!is_valid_utf8(filename)) return "it is UTF-8";
  const auto odd = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/' || c == '\\'; };
  if (std::any_of(filename.begin(), filename.end(), odd)) return "it has no slashes and no control characters";
  if (filename == "." || filename == "..") return "it names a file, not a directory";
  return {};
}

UploadStore::UploadStore(GroupCommit& store, Clock& clock, fs::path directory, UploadLimits limits)
    : store_(store),
      clock_(clock),
      directory_(std::move(directory)),
      limits_(limits),
      readers_(store.file(), store.kind()) {
  remove_strays();
  remove_expired();
}

fs::path UploadStore::arriving_file() {
  return directory_ / (std::string(kArriving) + random_hex(16));
}

/// Files that a kill left before their row, or after it was removed.
void UploadStore::remove_strays() {
  std::set<std::string> known;
  {
    auto reader = readers_.lease();
    auto& rows = reader.sql().get("SELECT upload_id FROM uploads");
    const ResetAtEnd reset(rows);
    while (rows.step()) known.emplace(rows.text(0));
  }
  std::error_code error;
  std::vector<fs::path> strays;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    if (!known.contains(entry.path().filename().string())) strays.push_back(entry.path());
  }
  for (const auto& stray : strays) fs::remove(stray, error);
}

bool UploadStore::is_awaited(const std::string& upload_id) {
  auto reader = readers_.lease();
  auto& row = reader.sql().get("SELECT 1 FROM writes WHERE ended_at_ms IS NULL AND instr(params_json, ?1) LIMIT 1");
  const ResetAtEnd reset(row);
  row.bind(1, upload_id);
  return row.step();
}

void UploadStore::remove_expired() {
  const auto before = clock_.wall_ms() - kGraceMs;
  std::vector<std::string> expired;
  {
    auto reader = readers_.lease();
    auto& rows = reader.sql().get("SELECT upload_id FROM uploads WHERE expires_at_ms < ?1");
    const ResetAtEnd reset(rows);
    rows.bind(1, before);
    while (rows.step()) expired.emplace_back(rows.text(0));
  }
  for (const auto& id : expired) {
    if (is_awaited(id)) continue;
    const bool gone = store_.run([&](SQLite::Database& db) {
      Statement remove(db.getHandle(), "DELETE FROM uploads WHERE upload_id = ?1 AND expires_at_ms < ?2");
      remove.bind_all(id, before).run();
      return sqlite3_changes(db.getHandle()) > 0;
    });
    if (gone) ::unlink(file_of(id).c_str());
  }
  const std::lock_guard lock(mutex_);
  tidied_boot_ms_ = clock_.boot_ms();
}

Upload UploadStore::add(const std::string& agent_id, const std::string& filename, const std::string& mime_type,
                        const fs::path& arrived) {
  const Arrived goes(arrived);
  if (const auto why = why_not_filename(filename); !why.empty())
    throw invalid_input(fmt::format("This is no name for an upload: {}. Give it as ?filename=report.pdf.", why));
  Upload upload;
  upload.agent_id = agent_id;
  upload.filename = filename;
  upload.mime_type = mime_type.empty() ? "application/octet-stream" : mime_type;
  if (!is_mime_type(upload.mime_type))
    throw invalid_input("The Content-Type of an upload is its type alone, such as application/pdf or text/plain.");
  bool tidy = false;
  {
    const std::lock_guard lock(mutex_);
    tidy = clock_.boot_ms() - tidied_boot_ms_ >= kTidyEveryMs;
  }
  if (tidy) remove_expired();
  auto contents = settle(arrived);
  if (contents.size > limits_.bytes)
    throw invalid_input(fmt::format("An upload has at most {}.", megabytes(limits_.bytes)));
  upload.size = contents.size;
  upload.sha256 = std::move(contents.sha256);
  upload.created_at_ms = clock_.wall_ms();
  upload.expires_at_ms = upload.created_at_ms + limits_.keep_ms;
  upload.upload_id = make_id(kPrefix, upload.created_at_ms);
  if (::rename(arrived.c_str(), file_of(upload.upload_id).c_str()) != 0) fail(arrived);
  try {
    if (!sync_directory(directory_)) fail(directory_);
    const auto stored = put(upload);
    // The file of the one that is known may be gone; what has just come is the same.
    if (stored.upload_id != upload.upload_id &&
        ::rename(file_of(upload.upload_id).c_str(), file_of(stored.upload_id).c_str()) != 0)
      fail(file_of(stored.upload_id));
    return stored;
  } catch (const Error& error) {
    // What may have been stored keeps its file: the next start removes it where it was not.
    if (error.type() == ErrorCode::kInvalidInput) ::unlink(file_of(upload.upload_id).c_str());
    throw;
  }
}

/// The same bytes under the same name are one upload, so that an agent that repeats its call repeats itself exactly.
Upload UploadStore::put(const Upload& upload) {
  return store_.run([&](SQLite::Database& db) {
    const auto* const same = "agent_id = ?1 AND sha256 = ?2 AND filename = ?3 AND mime_type = ?4";
    if (auto known = find(db, same, upload)) {
      known->expires_at_ms = upload.expires_at_ms;
      Statement(db.getHandle(), "UPDATE uploads SET expires_at_ms = ?2 WHERE upload_id = ?1")
          .bind_all(known->upload_id, known->expires_at_ms)
          .run();
      return *known;
    }
    refuse_too_many(db, upload, limits_);
    Statement insert(db.getHandle(),
                     fmt::format("INSERT INTO uploads ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", kUploadColumns));
    insert
        .bind_all(upload.upload_id, upload.agent_id, upload.filename, upload.mime_type, upload.size, upload.sha256,
                  upload.created_at_ms, upload.expires_at_ms)
        .run();
    return upload;
  });
}

std::int64_t UploadStore::room_of(const std::string& agent_id) {
  auto reader = readers_.lease();
  auto& held = reader.sql().get(kHeld);
  const ResetAtEnd reset(held);
  held.bind(1, agent_id);
  held.step();
  return std::max<std::int64_t>(0, limits_.agent_bytes - held.integer(0));
}

Upload UploadStore::get(const std::string& agent_id, const std::string& upload_id) {
  if (is_id(kPrefix, upload_id)) {
    auto reader = readers_.lease();
    auto& row =
        reader.sql().get(fmt::format("SELECT {} FROM uploads WHERE upload_id = ?1 AND agent_id = ?2", kUploadColumns));
    const ResetAtEnd reset(row);
    row.bind_all(upload_id, agent_id);
    if (row.step()) {
      auto upload = upload_row(row);
      if (upload.expires_at_ms >= clock_.wall_ms()) return upload;
    }
  }
  throw invalid_input(
      fmt::format("There is no upload {} of this agent, or it has expired. Send the file again to POST "
                  "/uploads and name the upload_id of the answer.",
                  printable(upload_id.substr(0, 60))));
}

std::size_t UploadStore::read(const CallContext& call, std::string_view upload_id, std::uint64_t offset, char* buffer,
                              std::size_t size) {
  const auto& write_id = call.owner().write_id;
  const auto seq = order_of_id("w_", write_id);
  bool named = false;
  if (seq && is_id(kPrefix, upload_id)) {
    auto reader = readers_.lease();
    auto& row = reader.sql().get("SELECT 1 FROM writes WHERE seq = ?1 AND instr(params_json, ?2)");
    const ResetAtEnd reset(row);
    row.bind_all(*seq, upload_id);
    named = row.step();
  }
  if (!named) throw invalid_input("Uploads are read by the write whose parameters name them, and by no other call.");
  const auto file = file_of(upload_id);
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) fail(file);
  std::size_t got = 0;
  while (got < size) {
    const auto n = ::pread(fd.get(), buffer + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

}  // namespace krux
