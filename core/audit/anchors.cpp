#include "core/audit/anchors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/audit/chain.hpp"
#include "core/audit/signing_key.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

std::string message_of(const Anchor& anchor) {
  return signed_head(anchor.log_id, anchor.head.seq, hash_hex(anchor.head.hash), anchor.at_ms);
}

/// Throws where the line is none.
Anchor anchor_of(const std::string& line) {
  const auto json = parse_json(line, "the line", {4096, 4});
  Anchor anchor;
  const auto text = [&](const char* name) { return std::string(find_string(json, name).value_or("")); };
  anchor.log_id = text("log_id");
  anchor.key = text("key");
  anchor.signature = text("signature");
  anchor.at_ms = find_int(json, "at_ms").value_or(0);
  const auto hash = hash_of_hex(text("hash"));
  anchor.head = {find_int(json, "seq").value_or(0), hash.value_or(AuditHash{})};
  if (!hash || anchor.head.seq < 1) throw invalid_input("It is no head of an audit log.");
  return anchor;
}

bool ends_in_a_line(int file, std::int64_t bytes) {
  char last = 0;
  return bytes == 0 || (::pread(file, &last, 1, bytes - 1) == 1 && last == '\n');
}

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw database_error(
      fmt::format("The audit log's heads cannot be written to {}: {}. Check the directory, or set "
                  "audit.anchor_file.",
                  printable(file.string()), std::strerror(errno)));
}

}  // namespace

Anchor make_anchor(const SigningKey& key, std::string_view log_id, const AuditHead& head, std::int64_t at_ms) {
  Anchor anchor{std::string(log_id), key.public_hex(), {}, head, at_ms};
  anchor.signature = key.sign(message_of(anchor));
  return anchor;
}

bool is_signed(const Anchor& anchor) {
  return is_signed_by(anchor.key, message_of(anchor), anchor.signature);
}

std::string anchor_json(const Anchor& anchor) {
  return json_object([&](JsonWriter& out) {
    put(out, "log_id", anchor.log_id);
    put(out, "seq", anchor.head.seq);
    put(out, "hash", hash_hex(anchor.head.hash));
    put(out, "at_ms", anchor.at_ms);
    put(out, "key", anchor.key);
    put(out, "signature", anchor.signature);
  });
}

void append_anchor(const std::filesystem::path& file, const Anchor& anchor) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(file, error);
  // A pipe would wait for its reader.
  const Descriptor opened(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  if (opened.get() < 0) fail(file);
  struct stat info {};
  if (::fstat(opened.get(), &info) != 0) fail(file);
  if (!S_ISREG(info.st_mode)) {
    errno = EINVAL;
    fail(file);
  }
  // What a full disk has cut off must not swallow this line.
  const auto line = (ends_in_a_line(opened.get(), info.st_size) ? "" : "\n") + anchor_json(anchor) + "\n";
  // Of one write(): lines of several hosts in one file do not mix.
  const auto written = ::write(opened.get(), line.data(), line.size());
  if (written >= 0 && written != static_cast<ssize_t>(line.size())) errno = ENOSPC;
  if (written != static_cast<ssize_t>(line.size())) fail(file);
  if (::fsync(opened.get()) != 0) fail(file);
  if (is_new && !sync_directory(file.parent_path())) fail(file);
}

std::vector<Anchor> read_anchors(const std::filesystem::path& file, std::string_view log_id, std::int64_t& unreadable) {
  std::vector<Anchor> found;
  unreadable = 0;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return found;
  std::ifstream in(file);
  if (!in) throw invalid_input(fmt::format("{} cannot be read: {}.", printable(file.string()), std::strerror(errno)));
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    try {
      auto anchor = anchor_of(line);
      if (log_id.empty() || anchor.log_id == log_id) found.push_back(std::move(anchor));
    } catch (const Error&) {
      ++unreadable;
    }
  }
  return found;
}

}  // namespace krux
