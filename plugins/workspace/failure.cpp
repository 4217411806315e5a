#include "workspace/failure.hpp"

#include <kruxos/kit/text.hpp>

#include <cerrno>
#include <cstring>

namespace workspace {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

std::string shown(std::string_view path) {
  return kruxos::kit::printable(path, 300);
}

}  // namespace

ProxyError invalid(const std::string& sentence) {
  return ProxyError(ErrorKind::kInvalid, sentence).no_effect();
}

ProxyError not_found(std::string_view path) {
  return ProxyError(ErrorKind::kNotFound, "There is no " + shown(path) + " in the workspace.")
      .type("FileNotFound")
      .no_effect();
}

ProxyError refused(const std::string& sentence, const char* type) {
  return ProxyError(ErrorKind::kRefused, sentence).type(type).no_effect();
}

ProxyError conflict(const std::string& sentence) {
  return ProxyError(ErrorKind::kConflict, sentence).no_effect();
}

ProxyError failure_of(int errno_value, std::string_view path, std::string_view doing) {
  const auto name = shown(path);
  switch (errno_value) {
    case ENOENT:
      return not_found(path);
    case ENOTDIR:
      return refused("A part of " + name + " is a file, and no directory.", "NotADirectory");
    case ELOOP:
      return refused("A part of " + name + " is a symbolic link. Links are not followed: name the file itself.",
                     "LinkRefused");
    case EXDEV:
      return refused(name + " leads out of the workspace, or to another file system that is mounted in it.",
                     "LinkRefused");
    case ENAMETOOLONG:
      return invalid("A name in " + name + " is too long: 255 bytes are accepted, 4,000 for the whole path.");
    case EACCES:
    case EPERM:
      return refused(name + " may not be " + std::string(doing) + ": its permissions forbid it.", "AccessDenied");
    case ENOSPC:
    case EDQUOT:
      return ProxyError(ErrorKind::kStorage, "The disk of the workspaces is full; tell the operator.").no_effect();
    case EROFS:
      return refused("The workspaces lie on a file system that is read-only; tell the operator.", "AccessDenied");
    default:
      return ProxyError(ErrorKind::kStorage,
                        name + " could not be " + std::string(doing) + ": " + std::strerror(errno_value) + ".")
          .no_effect();
  }
}

}  // namespace workspace
