// kruxos plugin install and remove, with and without a host that answers.
#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "host/bundles/store.hpp"
#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
namespace fs = std::filesystem;

namespace {

/// The command alone, with a data directory of its own.
struct Operator {
  support::Scratch scratch;
  BundleFolder bundle;
  FakeConsole console;
  std::vector<cli::BundleQuestion> asked;
  const fs::path root = fs::canonical(scratch.path()), data = root / "data";

  int run(std::vector<std::string> arguments) {
    console.out_text.str("");
    console.err_text.str("");
    console.prompts.clear();
    arguments.insert(arguments.begin(), {"--data-dir", data.string()});
    return cli::run_command(arguments, console, {}, {}, [this](const cli::BundleQuestion& question) {
      asked.push_back(question);
      return read_bundle(question.directory, nullptr, question.shown);
    });
  }
  int install(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"plugin", "install", bundle.path().string()});
    return run(more);
  }
  std::string out() const { return console.out_text.str(); }
  std::string err() const { return console.err_text.str(); }
  BundlePins pins() const { return read_pins(data); }
};

}  // namespace

TEST_CASE("what a bundle asks for is shown, and installed after a yes", "[bundle]") {
  Operator op;
  op.console.terminal = true;
  op.console.columns = 160;
  op.console.lines = {"y"};
  REQUIRE(op.install() == 0);
  for (const auto* part :
       {"mock 1.2.0: Mock", "a process of its own, unless services.mock.isolation says otherwise",
        "api.mock.example, files.mock.example", "https://api.mock.example/", "a token of the form m-[a-z]+", "items",
        "mock.add, mock.edit: 30 within 1 h", "mock.add: 10 within 1 h, for each room", "mock.add: 5 within 1 h",
        "a write waits for you", "approval_required", "5 min", "can be undone", "the host's default",
        "mock.policy.yaml", "SHA-256", "is installed, and loaded when the host is started next"}) {
    INFO(part << " in\n" << op.out());
    CHECK(has(op.out(), part));
  }
  CHECK(has(op.console.prompts, "Install mock 1.2.0? [y/N]"));
  REQUIRE(op.pins().bundles.size() == 1);
  const auto pin = op.pins().bundles.at(0);
  CHECK(has(op.out(), pin.files.at("mock.so")));
  CHECK(pin.terms.capabilities[1].tier == Tier::kApprovalRequired);
  CHECK(has(pin.installed_by, "uid"));
  CHECK(op.asked.at(0).shown == op.bundle.path());
  CHECK(op.asked.at(0).directory == staging_directory(op.data, op.data / "bundles"));
}

TEST_CASE("without a yes nothing is installed", "[bundle]") {
  Operator op;
  SECTION("a no") {
    op.console.terminal = true;
    op.console.lines = {GENERATE("n", "", "nonsense")};
    CHECK(op.install() == 1);
    CHECK(has(op.out(), "Nothing was installed."));
  }
  SECTION("no terminal") {
    CHECK(op.install() == 2);
    CHECK(has(op.out(), "mock.add"));
    CHECK(has(op.err(), "add --yes"));
  }
  SECTION("as JSON, which is a question only") {
    CHECK(op.install({"--json"}) == 0);
    CHECK(has(op.out(), R"("service":"mock","installed":false,"host_runs":false,"isolation":"process")"));
    CHECK(has(op.out(), R"("name":"mock.add","kind":"write","tier":"approval_required","delay_ms":300000)"));
  }
  CHECK(op.pins().bundles.empty());
  CHECK(fs::is_empty(op.data / "bundles"));
}

TEST_CASE("with --yes nobody is asked", "[bundle]") {
  Operator op;
  CHECK(op.install({"--yes", "--json"}) == 0);
  CHECK(has(op.out(), R"("installed":true)"));
  CHECK(op.console.prompts.empty());
  CHECK(op.pins().bundles.size() == 1);
}

TEST_CASE("an update shows what it asks for besides", "[bundle]") {
  Operator op;
  REQUIRE(op.install({"--yes"}) == 0);
  REQUIRE(op.install({"--yes"}) == 0);
  CHECK(has(op.out(), "these are the same files"));
  op.bundle.replace("manifest.yaml", "[api", "[evil.example, api");
  op.bundle.replace("manifest.yaml", "1.2.0", "1.3.0");
  op.bundle.replace("mock.yaml", "[files", "[evil.example, files");
  op.bundle.replace("mock.policy.yaml", "mock.add: {tier: approval_required, delay_seconds: 300,", "mock.add: {");
  op.bundle.replace("mock.yaml", "kind: read, tier: autonomous", "kind: read, tier: notify");
  op.console.terminal = true;
  op.console.columns = 160;
  op.console.lines = {"y"};
  REQUIRE(op.install() == 0);
  INFO(op.out());
  CHECK(has(op.out(), "Changes since 1.2.0, installed "));
  const auto looser = op.out().find("! speaks to another host: evil.example");
  CHECK(looser != std::string::npos);
  CHECK(has(op.out(), "! mock.add: the tier is notify instead of approval_required"));
  CHECK(has(op.out(), "! mock.add: the delay is 30 s instead of 5 min"));
  CHECK(op.out().find("- mock.find: the tier is notify instead of autonomous") > looser);
  CHECK(has(op.console.prompts, "in its place?"));
  CHECK(op.pins().bundles.at(0).terms.version == "1.3.0");
  REQUIRE(op.install({"--json"}) == 0);
  CHECK(has(op.out(), R"("version_before":"1.3.0","changes":[])"));
}

TEST_CASE("a hostile bundle's texts cannot steer the terminal", "[bundle]") {
  Operator op;
  op.console.terminal = true;
  op.console.lines = {"n"};
  op.bundle.replace("mock.yaml", "display_name: Mock", "display_name: \"Mock\u202e safe\u009b31m\"");
  op.bundle.replace("mock.yaml", "scopes: [items]", "scopes: [\"a\u2066b\"]");
  op.install();
  INFO(op.out() << op.err());
  for (const auto* raw : {"\u202e", "\u009b", "\u2066", "\x1b"}) {
    CHECK_FALSE(has(op.out(), raw));
    CHECK_FALSE(has(op.err(), raw));
  }
  CHECK(has(op.out(), "\\u202e"));
  op.bundle.replace("mock.yaml", "description: A service", "description: \"\\e[31mA service");
  CHECK(op.install() == 1);
  CHECK_FALSE(has(op.err(), "\x1b"));
}

TEST_CASE("another bundle's prefix is not given away", "[bundle]") {
  Operator op;
  REQUIRE(op.install({"--yes"}) == 0);
  op.bundle.replace("manifest.yaml", "service: mock", "service: other");
  op.bundle.replace("manifest.yaml", "definition: mock.yaml", "definition: other.yaml");
  op.bundle.replace("mock.policy.yaml", "service: mock", "service: other");
  op.bundle.write("other.yaml", replaced(op.bundle.read("mock.yaml"), "service: mock", "service: other\nprefix: mock"));
  CHECK(op.install({"--yes"}) == 5);
  CHECK(has(op.err(), "The prefix mock is that of the installed bundle of mock"));
  CHECK(op.pins().bundles.size() == 1);
}

TEST_CASE("without a host a bundle is removed where there never was one, or by force", "[bundle]") {
  Operator op;
  CHECK(op.run({"plugin", "remove", "mock", "--yes"}) == 4);
  REQUIRE(op.install({"--yes"}) == 0);
  CHECK(op.run({"plugin", "remove", "mock"}) == 2);
  CHECK(op.pins().bundles.size() == 1);
  std::ofstream(op.data / "kruxos.db") << "there was one";
  CHECK(op.run({"plugin", "remove", "mock", "--yes"}) == 3);
  CHECK(has(op.err(), "nobody knows whether accounts of mock are connected"));
  CHECK(op.pins().bundles.size() == 1);
  CHECK(op.run({"plugin", "remove", "mock", "--yes", "--force", "--json"}) == 0);
  CHECK(has(op.out(), R"({"service":"mock","removed":true,"host_runs":false})"));
  CHECK(op.pins().bundles.empty());
}

TEST_CASE("the bundles directory is the one that the arguments name", "[bundle]") {
  Operator op;
  const auto elsewhere = (op.root / "elsewhere").string();
  REQUIRE(op.install({"--yes", "--bundles-dir", elsewhere}) == 0);
  CHECK(fs::exists(fs::path(elsewhere) / "mock-1/mock.so"));
  CHECK_FALSE(fs::exists(op.data / "bundles"));
  CHECK(cli::run_command({"--socket", "/nowhere.sock", "plugin", "install", op.bundle.path()}, op.console, {}) == 2);
  CHECK(has(op.err(), "give --data-dir"));
}

TEST_CASE("the running host says where, in which isolation, and what stands in the way", "[bundle]") {
  CliFixture f;
  const BundleFolder bundle;
  const auto data = fs::canonical(f.scratch.path());
  fs::permissions(data, fs::perms::owner_all);
  f.api.answers["config"] = R"({"data_dir":{"value":")" + data.string() + R"("},"bundles_dir":{"value":")" +
                            (data / "there").string() + R"("},"definitions_dir":{"value":"/d"},)" +
                            R"("services.mock.isolation":{"value":"in_process"}})";
  fs::path definitions;
  const auto run = [&](std::vector<std::string> arguments) {
    f.console.out_text.str("");
    f.console.err_text.str("");
    arguments.insert(arguments.begin(), {"--socket", (f.scratch.path() / "control.sock").string(), "plugin"});
    return cli::run_command(arguments, f.console, {}, {}, [&](const cli::BundleQuestion& question) {
      definitions = question.definitions;
      return read_bundle(question.directory, nullptr, question.shown);
    });
  };
  REQUIRE(run({"install", bundle.path(), "--yes"}) == 0);
  INFO(f.out());
  CHECK(has(f.out(), "the host's own process, as services.mock.isolation says"));
  CHECK(has(f.out(), "A running host goes on with what it has loaded"));
  CHECK(definitions == "/d");
  CHECK(fs::exists(data / "there/mock-1/mock.so"));
  const auto plugin = [&](const std::string& members) {
    f.api.answers["plugins"] = R"({"plugins":[{"service":"mock","origin":"bundle",)" + members + "}]}";
  };
  plugin(R"("state":"loaded","connections":1,"unfinished_writes":0)");
  CHECK(run({"remove", "mock", "--yes"}) == 5);
  CHECK(has(f.err(), "1 account of mock is connected. Disconnect first: kruxos disconnect mock"));
  plugin(R"("state":"refused","connections":2,"unfinished_writes":0)");
  CHECK(run({"remove", "mock", "--yes"}) == 5);
  CHECK(has(f.err(), "its adapter is refused"));
  plugin(R"("state":"loaded","connections":0,"unfinished_writes":3)");
  CHECK(run({"remove", "mock", "--yes"}) == 5);
  CHECK(has(f.err(), "3 writes of mock have not ended."));
  CHECK(read_pins(data).bundles.size() == 1);
  plugin(R"("state":"loaded","connections":0,"unfinished_writes":0)");
  CHECK(run({"remove", "mock", "--yes"}) == 0);
  CHECK(read_pins(data).bundles.empty());
}

}  // namespace KRUXOS_TEST_FILE
