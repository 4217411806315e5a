#include "core/util/user_directories.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

/// A user with a home of his own; the variables are as before afterwards.
class User {
 public:
  User() {
    for (const auto* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) {
      const char* value = getenv(name);
      before_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      unsetenv(name);
    }
    set("HOME", home);
  }
  ~User() {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  void set(const char* name, const std::string& value) const { setenv(name, value.c_str(), 1); }

  support::Scratch scratch;
  fs::path home = scratch.path() / "home", elsewhere = scratch.path() / "xdg";

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

TEST_CASE("without variables a user's directories are the usual ones of his home") {
  const User user;
  const auto found = user_directories();
  CHECK(found.data == user.home / ".local/share/kruxos");
  CHECK(found.config == user.home / ".config/kruxos");
  CHECK(found.state == user.home / ".local/state/kruxos");
}

TEST_CASE("the variables of XDG say where a user's directories are") {
  const User user;
  user.set("XDG_DATA_HOME", user.elsewhere / "data");
  user.set("XDG_CONFIG_HOME", user.elsewhere / "config");
  user.set("XDG_STATE_HOME", user.elsewhere / "state");
  const auto found = user_directories();
  CHECK(found.data == user.elsewhere / "data/kruxos");
  CHECK(found.config == user.elsewhere / "config/kruxos");
  CHECK(found.state == user.elsewhere / "state/kruxos");
}

TEST_CASE("a variable that is no absolute path counts as not set") {
  const User user;
  for (const auto* value : {"", "data", "./data", "~/data"}) {
    user.set("XDG_DATA_HOME", value);
    user.set("XDG_CONFIG_HOME", value);
    CHECK(user_directories().data == user.home / ".local/share/kruxos");
    CHECK(user_directories().config == user.home / ".config/kruxos");
  }
}

TEST_CASE("what a user has from before a variable was set is found where it is") {
  const User user;
  user.set("XDG_DATA_HOME", user.elsewhere / "data");
  user.set("XDG_CONFIG_HOME", user.elsewhere / "config");
  fs::create_directories(user.home / ".local/share/kruxos");
  CHECK(user_directories().data == user.home / ".local/share/kruxos");
  CHECK(user_directories().config == user.elsewhere / "config/kruxos");
  fs::create_directories(user.home / ".config/kruxos");
  CHECK(user_directories().config == user.home / ".config/kruxos");

  fs::create_directories(user.elsewhere / "data/kruxos");
  CHECK(user_directories().data == user.elsewhere / "data/kruxos");
}

TEST_CASE("without HOME the user's entry in the list of users says where his home is") {
  const User user;
  unsetenv("HOME");
  CHECK(user_directories().data.is_absolute());
  user.set("HOME", "not/absolute");
  CHECK(user_directories().data.is_absolute());
}

TEST_CASE("a command finds the service's host where its user has none of his own") {
  const User user;
  const auto service = user.scratch.path() / "var/lib/kruxos";
  CHECK(data_dir_for_commands(service) == user.home / ".local/share/kruxos");
  fs::create_directories(service);
  CHECK(data_dir_for_commands(service) == service);
  fs::create_directories(user.home / ".local/share/kruxos");
  CHECK(data_dir_for_commands(service) == user.home / ".local/share/kruxos");
}

}  // namespace KRUXOS_TEST_FILE
