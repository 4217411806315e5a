// The installed package: adapters that are built against it, by two compilers, and that the host then takes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "package/machine.hpp"
#include "support/http.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
namespace fs = std::filesystem;

namespace {

/// As it is installed, against what is installed.
void builds_alone(const std::string& name) {
  const Machine machine;
  fs::copy(machine.prefix / "share/kruxos/examples" / (name + "_adapter"), machine.home / name,
           fs::copy_options::recursive);
  const auto dist = machine.build(machine.home / name, KRUXOS_CXX);
  CHECK(fs::exists(dist / name / "manifest.yaml"));
  load(dist / name, name, name);
}

}  // namespace

TEST_CASE("the first example builds alone against the installed package, and the host loads it") {
  builds_alone("notes");
}
TEST_CASE("the second example builds alone against the installed package, and the host loads it") {
  builds_alone("tasks");
}

#ifdef KRUXOS_LIBCXX_COMPILER
TEST_CASE("a new adapter built by clang with libc++ brings its runtime along, hidden") {
  const Machine machine;
  must({KRUXOS_COMMAND, "adapter", "new", "acme"}, machine.home);
  const auto dist =
      machine.build(machine.home / "acme", KRUXOS_LIBCXX_COMPILER, "-stdlib=libc++ -Wall -Wextra -Werror");
  const auto needed = run({{"readelf", "-d", dist / "acme/acme.so"}, {}});
  CHECK(needed.out.find("libc++") == std::string::npos);
  const auto exported = run({{"nm", "-D", "--defined-only", "--format=posix", dist / "acme/acme.so"}, {}});
  CHECK(exported.out.starts_with("krux_plugin_v1 "));
  CHECK(exported.out.find('\n') == exported.out.size() - 1);
  must({KRUXOS_COMMAND, "plugin", "verify", dist / "acme/acme.so", "--definitions", dist / "acme"});
}
#endif

TEST_CASE("a package of another ABI major is not taken") {
  const Machine machine;
  const auto source = machine.home / "project";
  fs::create_directory(source);
  const auto configure = [&](const std::string& version) {
    std::ofstream(source / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                                             << "find_package(KruxosPluginApi " << version << " CONFIG REQUIRED)\n"
                                             << "file(WRITE ${CMAKE_BINARY_DIR}/dirs ${KruxosPluginApi_PLUGINS_DIR})\n";
    fs::remove_all(machine.home / "b");
    return run(
        {{KRUXOS_CMAKE, "-S", source, "-B", machine.home / "b", "-DCMAKE_PREFIX_PATH=" + machine.prefix.string()}, {}},
        milliseconds(60'000));
  };
  CHECK(configure("1").status.ok());
  std::ifstream dirs(machine.home / "b/dirs");
  CHECK(std::string(std::istreambuf_iterator<char>(dirs), {}) == (machine.prefix / "lib/kruxos/adapters").string());
  for (const auto* other : {"0.9", "2", "1.7"}) {
    const auto refused = configure(other);
    INFO(other);
    CHECK_FALSE(refused.status.ok());
    CHECK(refused.err.find("KruxosPluginApi") != std::string::npos);
  }
}

TEST_CASE("the command line of the package's README builds an adapter without CMake") {
  const Machine machine;
  const auto doc = machine.prefix / "share/doc/kruxos-plugin-dev";
  CHECK(fs::exists(doc / "LICENSE"));
  CHECK(fs::exists(doc / "NOTICE"));
  std::ifstream readme(doc / "README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  const auto begin = text.find("  c++ ");
  REQUIRE(begin != std::string::npos);
  const auto command = text.substr(begin, text.find("  ```", begin) - begin);
  const auto example = machine.prefix / "share/kruxos/examples/tasks_adapter";
  fs::copy_file(example / "tasks_adapter.cpp", machine.home / "adapter.cpp");
  fs::copy_file(example / "tasks_adapter.hpp", machine.home / "tasks_adapter.hpp");
  must({"env", "PKG_CONFIG_PATH=" + (machine.prefix / "share/pkgconfig").string(), "sh", "-euc", command},
       machine.home);
  must({KRUXOS_COMMAND, "plugin", "verify", machine.home / "name.so", "--definitions", example / "definitions"});
  const auto version =
      run({{"pkg-config", "--modversion", machine.prefix / "share/pkgconfig/kruxos-plugin-api.pc"}, {}});
  CHECK(version.out.starts_with("1."));
}

TEST_CASE("the emulators are installed, and serve") {
  const support::Scratch scratch;
  const auto prefix = fs::canonical(scratch.path());
  must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", "testing"});
  for (const std::string name : {"slack-emulator", "gmail-emulator", "mcp-emulator"}) {
    INFO(name);
    Process emulator(Command{{prefix / "bin" / name, "--port", "0", "--die-with-parent"}, {}});
    const auto line = emulator.wait_for_line("ready http://127.0.0.1:");
    REQUIRE(line);
    const auto port = static_cast<std::uint16_t>(std::stoi(line->substr(line->rfind(':') + 1)));
    CHECK(http_request(port, "GET", "/_emulator/state", {}, "").status == 200);
    CHECK(emulator.stop().ok());
  }
}

TEST_CASE("manual pages and completions are installed where man and the shells look") {
  const support::Scratch scratch;
  const auto prefix = fs::canonical(scratch.path());
  must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", "command_documents"});
  const auto bytes_of = [&](const char* file) {
    std::ostringstream text;
    text << std::ifstream(prefix / file).rdbuf();
    return text.str();
  };
  CHECK_THAT(bytes_of("share/man/man1/kruxos.1"), Catch::Contains(".TH KRUXOS 1"));
  CHECK_THAT(bytes_of("share/man/man8/kruxosd.8"), Catch::Contains(".TH KRUXOSD 8"));
  for (const auto& [shell, file] : {std::pair("bash", "share/bash-completion/completions/kruxos"),
                                    std::pair("zsh", "share/zsh/site-functions/_kruxos"),
                                    std::pair("fish", "share/fish/vendor_completions.d/kruxos.fish")}) {
    INFO(file);
    const auto printed = run({{KRUXOS_COMMAND, "completion", shell}, {}}).out;
    CHECK_FALSE(printed.empty());
    CHECK(bytes_of(file) == printed);
  }
}

TEST_CASE("the mock is installed, and is an adapter that the host takes") {
  const support::Scratch scratch;
  const auto prefix = fs::canonical(scratch.path());
  must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", "testing"});
  CHECK(fs::exists(prefix / "share/kruxos/testing/example.mock.json"));
  const auto mock = prefix / "lib/kruxos/testing/mock.so";
  const auto verify = [&] { return run({{KRUXOS_COMMAND, "plugin", "verify", mock}, {}}).out; };
  CHECK_THAT(verify(), Catch::Contains("mock.mock.json"));  // it has no script yet
  std::ofstream(prefix / "lib/kruxos/testing/mock.mock.json") << "{\"servise\": 3}";
  CHECK_THAT(verify(), Catch::Contains("it needs a \"service\""));
  fs::copy_file(prefix / "share/kruxos/testing/example.mock.json", prefix / "lib/kruxos/testing/mock.mock.json",
                fs::copy_options::overwrite_existing);
  must({KRUXOS_COMMAND, "plugin", "verify", mock});
}

}  // namespace KRUXOS_TEST_FILE
