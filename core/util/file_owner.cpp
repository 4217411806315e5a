#include "core/util/file_owner.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace krux {
namespace {

/// Whether `group` is the private group that many systems give each user: the user's own, of the user's name, without
/// members.
bool is_own_private_group(gid_t group) {
  std::array<char, 16384> user_text, group_text;
  passwd user_entry{};
  ::group group_entry{};
  passwd* user = nullptr;
  ::group* found = nullptr;
  if (getpwuid_r(geteuid(), &user_entry, user_text.data(), user_text.size(), &user) != 0 || !user) return false;
  if (getgrgid_r(group, &group_entry, group_text.data(), group_text.size(), &found) != 0 || !found) return false;
  return user->pw_gid == group && std::strcmp(user->pw_name, found->gr_name) == 0 && found->gr_mem[0] == nullptr;
}

}  // namespace

std::string owner_problem(const struct stat& info) {
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return fmt::format("belongs to user {}; give it to root or to the user that runs the host (chown)", info.st_uid);
  }
  const bool group_may = (info.st_mode & S_IWGRP) && info.st_gid != 0 && !is_own_private_group(info.st_gid);
  if ((info.st_mode & S_IWOTH) || group_may) return "can be written by other users; take that away (chmod go-w)";
  return {};
}

}  // namespace krux
