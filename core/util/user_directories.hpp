// Where programs keep what is a user's own: the XDG base directories.
#pragma once

#include <filesystem>

namespace krux {

/// Each is KruxOS's own directory in the user's, such as ~/.local/share/kruxos. Absolute; none need exist.
struct UserDirectories {
  std::filesystem::path data, config, state;
};

/// Of this process's environment. A variable that is no absolute path counts as not set. What lies in ~/.local/share or
/// ~/.config since before its variable was set is found there, as long as nothing is where the variable leads.
UserDirectories user_directories();

/// What a command talks to that is told no data directory: the user's own, but where there is none, and the machine
/// runs the host as a service, the service's (`of_service`).
std::filesystem::path data_dir_for_commands(const std::filesystem::path& of_service = "/var/lib/kruxos");

}  // namespace krux
