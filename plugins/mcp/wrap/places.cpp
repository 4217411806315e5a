#include "places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace mcp {
namespace {

namespace fs = std::filesystem;

std::string text_in(const fs::path& file) {
  // A pipe would be waited for.
  if (!fs::is_regular_file(file)) throw std::runtime_error(file.string() + " is no file");
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad() || !in.is_open()) throw std::runtime_error(file.string() + " cannot be read");
  return text;
}

[[noreturn]] void cannot_write(const fs::path& file) {
  throw std::runtime_error(file.string() + " cannot be written: " + std::strerror(errno));
}

/// A file beside the one that it takes the place of, or that goes again.
class NewFile {
 public:
  NewFile(fs::path file, const std::string& text) : file_(std::move(file)), beside_(file_.string() + ".part") {
    if (fs::is_directory(file_)) {
      errno = EISDIR;
      cannot_write(file_);
    }
    (void)::unlink(beside_.c_str());
    const int fd = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) cannot_write(file_);
    std::size_t at = 0;
    while (at < text.size()) {
      const auto put = ::write(fd, text.data() + at, text.size() - at);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) break;
      at += static_cast<std::size_t>(put);
    }
    const bool whole = at == text.size() && ::fchmod(fd, 0644) == 0 && ::fsync(fd) == 0;
    const int error = errno;
    ::close(fd);
    if (whole) return;
    (void)::unlink(beside_.c_str());
    errno = error;
    cannot_write(file_);
  }
  ~NewFile() { (void)::unlink(beside_.c_str()); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void take_place() {
    if (::rename(beside_.c_str(), file_.c_str()) != 0) cannot_write(file_);
  }

 private:
  const fs::path file_;
  const std::string beside_;
};

bool is_shipped(const Places& places, const std::string& service) {
  return text_in(places.adapter(service)) == text_in(places.library);
}

}  // namespace

std::optional<Wrapped> agreed_before(const Places& places, const std::string& service) {
  const auto file = places.agreed(service);
  if (!fs::exists(file)) {
    if (fs::exists(places.adapter(service)) && !is_shipped(places, service))
      throw std::runtime_error(places.adapter(service).string() + " is another adapter; choose another name");
    return std::nullopt;
  }
  try {
    return read_wrapped(text_in(file));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file.string() + " cannot be used: " + error.what() + ". Remove it to begin anew");
  }
}

Differences differences(const Wrapped& before, const Wrapped& now) {
  Differences all;
  all.moved = before.url != now.url || before.command != now.command;
  const auto of = [](const Wrapped& wrapped, const std::string& tool) {
    return std::find_if(wrapped.tools.begin(), wrapped.tools.end(), [&](const auto& one) { return one.tool == tool; });
  };
  for (const auto& tool : now.tools) {
    const auto known = of(before, tool.tool);
    if (known == before.tools.end()) {
      all.added.push_back(tool.tool);
    } else if (known->pin != tool.pin) {
      all.changed.push_back(tool.tool);
    }
  }
  for (const auto& tool : before.tools) {
    if (of(now, tool.tool) == now.tools.end()) all.gone.push_back(tool.tool);
  }
  return all;
}

std::optional<fs::path> put(const Places& places, const Wrapping& wrapping) {
  const auto& service = wrapping.wrapped.service;
  auto definition = places.definition(service);
  std::optional<fs::path> beside;
  if (fs::exists(definition) && text_in(definition) != wrapping.definition) {
    definition += ".new";
    beside = definition;
  }
  NewFile first(definition, wrapping.definition);
  NewFile second(places.adapter(service), text_in(places.library));
  NewFile third(places.agreed(service), json_of(wrapping.wrapped));
  for (auto* file : {&first, &second, &third}) file->take_place();
  return beside;
}

bool complete(const Places& places, const Wrapping& wrapping) {
  const auto& service = wrapping.wrapped.service;
  const bool defined = fs::exists(places.definition(service));
  const bool shipped = fs::exists(places.adapter(service)) && is_shipped(places, service);
  if (!defined) NewFile(places.definition(service), wrapping.definition).take_place();
  if (!shipped) NewFile(places.adapter(service), text_in(places.library)).take_place();
  return !defined || !shipped;
}

}  // namespace mcp
