#include "host/http/body_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/util/error.hpp"

namespace krux {

BodyFile::~BodyFile() {
  ::unlink(file.c_str());
}

BodyWriter::BodyWriter(const BodyToFile& to)
    : file_(std::make_shared<BodyFile>(to.file, to.room)),
      fd_(::open(to.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)),
      timeout_ms_(to.timeout_ms),
      least_rate_(to.least_rate) {
  if (fd_.get() >= 0) return;
  throw database_error(fmt::format("{} could not be written: {}. Check the directory's rights and the space left.",
                                   to.file.string(), std::strerror(errno)));
}

bool BodyWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    written_ += n;
  }
  return true;
}

std::int64_t BodyWriter::allowed_ms() const {
  return timeout_ms_ + (least_rate_ > 0 ? written_ * 1000 / least_rate_ : 0);
}

std::shared_ptr<BodyFile> BodyWriter::finish() {
  return std::move(file_);
}

}  // namespace krux
