#include "agreed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "workspace/descriptor.hpp"

namespace mcp {
namespace {

constexpr std::size_t kLargestFile = 4u << 20;

}  // namespace

std::shared_ptr<const Wrapped> read_agreed_file(const std::string& library) {
  auto file = std::filesystem::path(library);
  file.replace_extension(".mcp.json");
  const auto name = file.filename().string();
  const auto refuse = [&](const std::string& why) -> std::runtime_error {
    return std::runtime_error(name + " beside the adapter cannot be used: " + why + ". kruxos adapter wrap makes it.");
  };
  const workspace::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) throw refuse(std::strerror(errno));
  struct stat about {};
  if (::fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode)) throw refuse("it is no file");
  if (about.st_uid != 0 && about.st_uid != ::geteuid()) throw refuse("it belongs to another user");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) throw refuse("other users can write it (chmod go-w)");
  std::string text;
  std::array<char, 65536> piece{};
  for (ssize_t got = 0; (got = ::read(opened.get(), piece.data(), piece.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw refuse(std::strerror(errno));
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) throw refuse("it is larger than 4 MiB");
  }
  try {
    return std::make_shared<const Wrapped>(read_wrapped(text));
  } catch (const std::exception& error) {
    throw refuse(error.what());
  }
}

}  // namespace mcp
