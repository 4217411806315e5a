#include "host/gateway/upload_desk.hpp"

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr int kThreads = 2;
constexpr std::size_t kMostWaiting = 64;
/// Slow lines carry large files as well, but who sends nothing holds no place.
constexpr std::int64_t kTimeoutMs = 30'000, kLeastRate = 64 << 10;

std::string upload_json(const Upload& upload) {
  return json_object([&](JsonWriter& out) {
    put(out, "upload_id", upload.upload_id);
    put(out, "filename", upload.filename);
    put(out, "mime_type", upload.mime_type);
    put(out, "size", upload.size);
    put(out, "sha256", upload.sha256);
    put(out, "expires_at", format_time(upload.expires_at_ms));
  });
}

}  // namespace

UploadDesk::UploadDesk(UploadStore& store) : store_(store), pool_(kThreads, kMostWaiting) {}

BodyToFile UploadDesk::target() {
  return {store_.arriving_file(), static_cast<std::uint64_t>(store_.limits().bytes), kTimeoutMs, kLeastRate};
}

void UploadDesk::add(const UploadRequest& upload, std::function<void(std::variant<std::string, Error>)> done) {
  if (!upload.file) return done(invalid_input("There is no body: send the file's bytes as the request's body."));
  const bool taken = pool_.run([this, upload, done] {
    try {
      done(upload_json(store_.add(upload.agent_id, upload.filename, upload.mime_type, upload.file->file)));
    } catch (const Error& error) {
      done(error);
    } catch (const std::exception& error) {
      done(Error(ErrorCode::kServiceUnavailable, error.what(), true, 60'000));
    }
  });
  if (!taken)
    done(Error(ErrorCode::kServiceUnavailable, "Too many uploads arrive at once. Try again in a moment.", true, 5'000));
}

}  // namespace krux
