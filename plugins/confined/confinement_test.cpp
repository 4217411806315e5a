// What bubblewrap is told.
#include "confinement.hpp"

#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using confined::Confinement;

namespace {

std::string joined(const Confinement& confinement) {
  std::string all;
  for (const auto& word : confined::words_for(confinement, "/workspace/a", {"program", "an argument"}))
    all += word + "|";
  return all;
}

}  // namespace

TEST_CASE("what a confinement does not name, a program does not get") {
  const auto plain = joined({});
  CHECK_THAT(plain, Contains("--unshare-net|") && Contains("--chdir|/workspace/a|--seccomp|3|--|") &&
                        Contains("|program|an argument|"));
  CHECK_THAT(plain, !Contains("resolv.conf") && !Contains("/run/environment") && !Contains("--bind-fd"));
  CHECK_THAT(plain, Contains("--perms|1777|--tmpfs|/workspace|"));
  CHECK_THAT(plain, Contains("--nproc=64|--fsize=268435456|--data=536870912|"));
}

TEST_CASE("what a confinement names, a program gets") {
  Confinement all;
  all.network = true;
  all.directory = 7;
  all.readable = {"/opt/server", "/srv/data"};
  all.environment_file = "/etc/server.env";
  const auto words = joined(all);
  CHECK_THAT(words, !Contains("--unshare-net") && Contains("/etc/resolv.conf") && Contains("/etc/ssl"));
  CHECK_THAT(words, Contains("--bind-fd|3|/workspace|") && !Contains("--tmpfs|/workspace"));
  CHECK_THAT(words, Contains("--ro-bind|/opt/server|/opt/server|--ro-bind|/srv/data|/srv/data|"));
  CHECK_THAT(words, Contains("--ro-bind|/etc/server.env|/run/environment|"));
  CHECK_THAT(words, Contains("|sh|program|an argument|"));
}

TEST_CASE("a path that cannot be shown is refused by a sentence that has it") {
  const auto refused = [](const std::string& path) {
    Confinement one, other;
    one.readable = {path};
    other.environment_file = path.empty() ? " " : path;
    CHECK_THROWS_AS(confined::check(one), kruxos::ProxyError);
    CHECK_THROWS_AS(confined::check(other), kruxos::ProxyError);
  };
  for (const std::string& path :
       {std::string(""), std::string("/"), std::string("opt"), std::string("./opt"), std::string("/opt/../etc"),
        std::string("/opt//x"), std::string("/opt/"), std::string("/opt/./x"), std::string("/a\0b", 4)})
    refused(path);
  for (const char* path : {"/proc", "/proc/1", "/sys", "/workspace", "/workspace/x", "/run/environment"}) {
    Confinement one;
    one.readable = {path};
    CHECK_THROWS_WITH(confined::check(one), Contains(path) && Contains("sandbox's own"));
  }
  Confinement fine;
  fine.readable = {"/process", "/opt/a.b/..c", "/tmp/x", "/dev/shm/x"};
  CHECK_NOTHROW(confined::check(fine));
}

}  // namespace KRUXOS_TEST_FILE
