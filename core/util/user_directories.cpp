#include "core/util/user_directories.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOurs = "kruxos";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

fs::path home() {
  const char* variable = std::getenv("HOME");
  if (variable && *variable == '/') return variable;
  const auto* user = getpwuid(geteuid());
  return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : "/";
}

/// `name` is the variable, `usual` where it leads when it is not set.
fs::path base(const char* name, const fs::path& usual) {
  const char* variable = std::getenv(name);
  return variable && *variable == '/' ? fs::path(variable) : usual;
}

fs::path ours(const char* name, const fs::path& usual) {
  const auto named = base(name, usual) / kOurs, before = usual / kOurs;
  return !is_there(named) && is_there(before) ? before : named;
}

}  // namespace

UserDirectories user_directories() {
  const auto user = home();
  return {.data = ours("XDG_DATA_HOME", user / ".local/share"),
          .config = ours("XDG_CONFIG_HOME", user / ".config"),
          // Never looked for in two places: the counters in it are to show copies.
          .state = base("XDG_STATE_HOME", user / ".local/state") / kOurs};
}

fs::path data_dir_for_commands(const fs::path& of_service) {
  auto own = user_directories().data;
  return !is_there(own) && is_there(of_service) ? of_service : own;
}

}  // namespace krux
