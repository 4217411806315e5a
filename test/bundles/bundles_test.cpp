// Bundles from their installation to an agent's call.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "e2e/host_fixture.hpp"
#include "support/http.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNotesToken = "note-2ecret";
constexpr const char* kPolicy = R"(policy: 1
service: notes
capabilities:
  notes.create: {tier: approval_required, delay_seconds: 300, limits: [{limit: 2, window: 1 h}]}
)";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

/// The host with its Slack adapter in the plugins directory, and the example's adapter as a bundle beside it.
struct BundleRig : Rig {
  const fs::path bundle = path("bundle");
  const std::uint16_t notes_port = free_port();
  const std::string section;  // of the configuration; there as long as the bundle is
  Process notes;

  explicit BundleRig(const std::string& notes_config = "")
      : section("  notes: {api_base_url: \"http://127.0.0.1:" + std::to_string(notes_port) + "/\"" +
                (notes_config.empty() ? "" : ", " + notes_config) + "}\n"),
        notes({.argv = {KRUXOS_PYTHON, std::string(KRUXOS_NOTES_EXAMPLE) + "/fake_notes.py", "--port",
                        std::to_string(notes_port), "--token", kNotesToken}}) {
    fs::create_directory(bundle);
    support::copy_safe(KRUXOS_NOTES_PLUGIN, bundle / "notes.so");
    support::copy_safe(fs::path(KRUXOS_NOTES_EXAMPLE) / "definitions/notes.yaml", bundle / "notes.yaml");
    support::write_safe(bundle / "notes.policy.yaml", kPolicy);
    auto manifest = bytes_of(fs::path(KRUXOS_NOTES_EXAMPLE) / "manifest.yaml");
    const std::string definition = "definition: notes.yaml\n";
    manifest.insert(manifest.find(definition) + definition.size(), "policy: notes.policy.yaml\n");
    support::write_safe(bundle / "manifest.yaml", manifest);
    REQUIRE(eventually([&] { return effects().status == 200; }));
  }
  void install(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"plugin", "install", bundle.string(), "--yes"};
    words.insert(words.end(), more.begin(), more.end());
    const auto done = kruxos(words);
    INFO(done.out << done.err);
    REQUIRE(done.status.ok());
    if (config_text.find(section) == std::string::npos) config_text += section;
  }
  Finished check() {
    return run({.argv = {KRUXOS_TEST_HOST, "--check-config", "--config", path("kruxos.yaml").string()}});
  }
  void connect_notes() {
    const auto done = kruxos({"connect", "notes"}, std::string(kNotesToken) + "\n");
    INFO(done.err << log());
    REQUIRE(done.status.ok());
  }
  void restart() {
    REQUIRE(stop().ok());
    start();
  }
  HttpReply effects() {
    try {
      return http_request(notes_port, "GET", "/_fake/effects",
                          {{"authorization", std::string("Bearer ") + kNotesToken}});
    } catch (const std::exception&) {
      return {};
    }
  }
  std::int64_t made() { return number_at(parse(effects().body), "/made"); }

  /// Of the plugin that is a bundle's, and of the other one.
  Json plugins() { return operate({"plugin", "list"}); }
  std::string slack(const char* member) { return text_at(plugins(), std::string("/plugins/0/") + member); }
  std::string of_bundle(const char* member) { return text_at(plugins(), std::string("/plugins/1/") + member); }
  fs::path installed() { return fs::path(of_bundle("file")).parent_path(); }
  std::string alerts() { return text_of(operate({"alerts"})); }
};

}  // namespace

TEST_CASE("an installed bundle serves agents from a process of its own, as its policy holds them to") {
  BundleRig rig;
  const auto shown = rig.kruxos({"plugin", "install", rig.bundle.string()});
  CHECK(shown.status.code == 2);
  CHECK(contains(shown.out, "notes.create"));
  CHECK(contains(shown.err, "add --yes"));
  rig.install();
  rig.start();
  CHECK(rig.of_bundle("state") == "loaded");
  CHECK(rig.of_bundle("origin") == "bundle");
  CHECK(rig.of_bundle("isolation") == "process");
  CHECK(rig.of_bundle("version") == "1.0.0");
  CHECK(rig.slack("origin") == "directory");
  CHECK(rig.slack("isolation") == "in_process");
  rig.connect_notes();
  rig.key = rig.new_agent("assistant");
  CHECK(rig.invoke("notes.search").ok());
  const auto written = rig.invoke("notes.create", R"({"text":"kept back"})");
  INFO(text_of(written.document));
  CHECK(written.error() == "ApprovalRequired");
  const auto id = text_at(written.document, "/result/error/context/write_id");
  const auto waiting = rig.write(id);
  CHECK(text_at(waiting, "/write/state") == "pending_approval");
  REQUIRE(rig.kruxos({"approve", "accept", id, "--yes"}).status.ok());
  rig.advance(290'000);
  CHECK(rig.state(id) == "buffered");
  CHECK(rig.made() == 0);
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 60'000));
  CHECK(rig.made() == 1);
}

TEST_CASE("a check of the configuration says with bundles what the start says") {
  const auto [notes_config, lines, sentence] = GENERATE(table<std::string, std::string, std::string>({
      {"adapter: {page_size: 20}", "write_buffer: {delays: {notes.create: 400, slack.send: 60}}\n", ""},
      {"", "write_buffer: {delays: {slak.send: 60}}\n", "there is no operation \"slak.send\""},
      {"", "write_buffer: {delays: {notes.creat: 60}}\n", "there is no operation \"notes.creat\""},
      {"adapter: {page_sice: 20}", "", "the adapter has no setting \"page_sice\" (did you mean \"page_size\"?)"},
  }));
  CAPTURE(notes_config, lines);
  BundleRig rig(notes_config);
  rig.install();
  rig.config_text += lines;
  std::ofstream(rig.path("kruxos.yaml")) << rig.config_text;
  const auto checked = rig.check();
  INFO(checked.err);
  rig.launch();
  if (sentence.empty()) {
    CHECK(checked.status.ok());
    rig.await_ready();
    return;
  }
  CHECK(checked.status.code == 1);
  CHECK(contains(checked.err, sentence));
  CHECK(rig.await_end().code == 1);
  CHECK(contains(rig.host().output(Stream::err), sentence));
}

TEST_CASE("a check of the configuration refuses a bundle that the start would, and changes nothing") {
  BundleRig rig;
  rig.install();
  const auto policies = rig.path("policies");
  fs::create_directory(policies);
  fs::permissions(policies, fs::perms::owner_all);
  support::write_safe(policies / "notes.yaml", "policy: 1\nservice: notes\ncapabilities: {notes.none: {}}\n");
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  std::ofstream(rig.path("kruxos.yaml")) << rig.config_text;
  const auto by_policy = rig.check();
  CHECK(by_policy.status.code == 1);
  CHECK(contains(by_policy.err, "notes.none"));
  support::write_safe(policies / "notes.yaml", "policy: 1\nservice: notes\ncapabilities: {}\n");
  CHECK(rig.check().status.ok());
  const auto library = rig.data() / "bundles" / "notes-1" / "notes.so";
  fs::permissions(library, fs::perms::owner_write, fs::perm_options::add);
  std::ofstream(library, std::ios::app) << "more";
  const auto touched = rig.check();
  CHECK(touched.status.code == 1);
  CHECK(contains(touched.err, "bundle refused: "));
  CHECK(contains(touched.err, "notes.so"));
}

TEST_CASE("a file that was touched refuses its bundle at the next start, and nothing else") {
  const std::string name = GENERATE("notes.so", "notes.yaml", "notes.policy.yaml", "manifest.yaml", "more.so", "link");
  CAPTURE(name);
  BundleRig rig;
  rig.install();
  rig.start();
  rig.connect_notes();
  const auto directory = rig.installed();
  REQUIRE(rig.stop().ok());
  if (name == "more.so") {
    std::ofstream(directory / name) << "more";
  } else if (name == "link") {
    fs::rename(directory / "notes.yaml", rig.path("same.yaml"));
    fs::create_symlink(rig.path("same.yaml"), directory / "notes.yaml");
  } else {
    auto bytes = bytes_of(directory / name);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    fs::permissions(directory / name, fs::perms::owner_all);
    std::ofstream(directory / name, std::ios::binary) << bytes;
  }
  rig.start();
  CHECK(rig.slack("state") == "loaded");
  CHECK(rig.of_bundle("state") == "refused");
  CHECK(rig.of_bundle("service") == "notes");
  const auto reason = rig.of_bundle("reason");
  INFO(reason);
  CHECK(contains(reason, (directory / (name == "link" ? "notes.yaml" : name)).string()));
  CHECK(contains(reason, "kruxos plugin install DIR"));
  CHECK(contains(rig.alerts(), "bundle_refused"));
  CHECK(number_at(rig.plugins(), "/plugins/1/connections") == 1);
  const auto kept = rig.kruxos({"plugin", "remove", "notes", "--yes"});
  CHECK(kept.status.code == 5);
  CHECK(contains(kept.err, "its adapter is refused"));
  rig.install();
  rig.restart();
  CHECK(rig.of_bundle("state") == "loaded");
  CHECK(eventually([&] { return !contains(rig.alerts(), "bundle_refused"); }));
}

TEST_CASE("a new version waits for the host's next start, and the running one's process can start again meanwhile") {
  BundleRig rig;
  rig.install();
  rig.start();
  rig.connect_notes();
  rig.key = rig.new_agent("assistant");
  REQUIRE(rig.invoke("notes.search").ok());
  const auto old = rig.installed();
  auto definition = bytes_of(rig.bundle / "notes.yaml");
  definition.replace(definition.find("delay: 30 s"), 11, "delay: 20 s");
  support::write_safe(rig.bundle / "notes.yaml", definition);
  support::write_safe(rig.bundle / "notes.policy.yaml", "policy: 1\nservice: notes\ncapabilities: {}\n");
  const auto done = rig.kruxos({"plugin", "install", rig.bundle.string(), "--yes"});
  INFO(done.out << done.err);
  REQUIRE(done.status.ok());
  CHECK(contains(done.out, "! notes.create: the tier is notify instead of approval_required"));
  CHECK(contains(done.out, "! notes.create: the delay is 20 s instead of 5 min"));
  CHECK(contains(done.out, "A running host goes on with what it has loaded"));
  CHECK(text_at(rig.plugins(), "/next_start/0/change") == "installed");
  CHECK(contains(rig.kruxos({"plugin", "list"}).out, "notes 1.0.0 is installed, which the host's next start"));
  const auto pid = static_cast<pid_t>(number_at(rig.plugins(), "/plugins/1/process/pid"));
  REQUIRE(pid > 0);
  REQUIRE(kill(pid, SIGKILL) == 0);
  CHECK(rig.pass_time([&] { return rig.invoke("notes.search").ok(); }, 70'000, 1'000));
  CHECK(rig.installed() == old);
  rig.restart();
  CHECK(rig.installed() != old);
  CHECK_FALSE(fs::exists(old));
  CHECK(rig.of_bundle("state") == "loaded");
  const auto written = rig.invoke("notes.create", R"({"text":"sooner"})");
  REQUIRE(written.ok());
  CHECK(rig.state(written.write_id()) == "buffered");
}

TEST_CASE("a bundle is removed once nothing is connected by it") {
  BundleRig rig;
  rig.install();
  rig.start();
  rig.connect_notes();
  const auto kept = rig.kruxos({"plugin", "remove", "notes", "--yes"});
  CHECK(kept.status.code == 5);
  CHECK(contains(kept.err, "kruxos disconnect notes"));
  const auto gone = rig.kruxos({"disconnect", "notes", "--yes", "--force"});
  INFO(gone.out << gone.err);
  REQUIRE(gone.status.ok());
  REQUIRE(rig.kruxos({"plugin", "remove", "notes", "--yes"}).status.ok());
  CHECK(rig.of_bundle("state") == "loaded");
  const auto directory = rig.installed();
  REQUIRE(rig.stop().ok());
  rig.launch();
  CHECK(rig.await_end().code == 1);  // a section of nobody
  CHECK(contains(rig.log(), "there is no service \"notes\""));
  rig.config_text.erase(rig.config_text.find(rig.section));
  rig.start();
  CHECK(size_at(rig.plugins(), "/plugins") == 1);
  CHECK_FALSE(fs::exists(directory));
}

TEST_CASE("what is restored from a backup serves the bundles of another directory too") {
  BundleRig rig;
  const auto elsewhere = rig.path("elsewhere");
  const auto setting = "bundles_dir: " + elsewhere.string() + "\n";
  rig.install({"--bundles-dir", elsewhere.string()});
  rig.config_text += setting;
  rig.start();
  rig.connect_notes();
  const auto made = rig.kruxos({"backup", rig.path("monday").string()});
  INFO(made.err);
  REQUIRE(made.status.ok());
  REQUIRE(rig.stop().ok());
  fs::rename(rig.data(), rig.path("original"));
  fs::rename(elsewhere, rig.path("original-bundles"));
  const auto restored = rig.kruxos({"restore", rig.path("monday").string()});
  REQUIRE(restored.status.ok());
  CHECK(contains(restored.out, "lay in " + elsewhere.string()));
  rig.config_text.erase(rig.config_text.find(setting), setting.size());
  rig.start();
  CHECK(rig.of_bundle("state") == "loaded");
  CHECK(rig.installed().parent_path() == fs::canonical(rig.data() / "bundles"));
}

TEST_CASE("an operator's word for the host's own process is kept, with a warning") {
  BundleRig rig("isolation: in_process");
  rig.install();
  rig.start();
  CHECK(rig.of_bundle("isolation") == "in_process");
  CHECK(contains(rig.log(), "the bundle of notes runs in the host's process"));
  rig.connect_notes();
}

TEST_CASE("a bundle of a service that is there already is refused by the running host's word and at start") {
  BundleRig rig;
  rig.install();
  support::copy_safe(rig.bundle / "notes.yaml", rig.path("definitions/notes.yaml"));
  rig.start();
  CHECK(contains(rig.of_bundle("reason"), "The service notes is there already"));
  const auto again = rig.kruxos({"plugin", "install", rig.bundle.string(), "--yes"});
  CHECK(again.status.code == 1);
  CHECK(contains(again.err, "The service notes is there already"));
}

TEST_CASE("certify says the same of a policy that loosens as the installation does") {
  BundleRig rig;
  support::copy_safe(fs::path(KRUXOS_NOTES_EXAMPLE) / "fake_notes.py", rig.bundle / "fake_notes.py");
  for (const bool loose : {false, true}) {
    if (loose)
      support::write_safe(rig.bundle / "notes.policy.yaml",
                          "policy: 1\nservice: notes\ncapabilities: {notes.create: {tier: autonomous}}\n");
    const auto tried = rig.kruxos({"adapter", "certify", rig.bundle.string(), "--only", "manifest.fits"});
    INFO(tried.out << tried.err);
    CHECK(tried.status.code == (loose ? 1 : 0));
    CHECK(contains(tried.out, "notes.policy.yaml:3:") == loose);
  }
  const auto refused = rig.kruxos({"plugin", "install", rig.bundle.string(), "--yes"});
  INFO(refused.err);
  CHECK(refused.status.code == 1);
  CHECK(contains(refused.err, "bundle/notes.policy.yaml:3:"));
}

TEST_CASE("killed in the middle of an installation, the command leaves what was there") {
  BundleRig rig;
  rig.install();
  rig.start();
  const auto before = rig.installed();
  REQUIRE(rig.stop().ok());
  fs::remove(rig.bundle / "notes.so");
  support::copy_safe(KRUXOS_HANGING_PLUGIN, rig.bundle / "notes.so");
  Process command(
      {.argv = {KRUXOS_COMMAND, "--data-dir", rig.data().string(), "plugin", "install", rig.bundle.string(), "--yes"}});
  fs::path staging;
  REQUIRE(eventually([&] {
    for (const auto& entry : fs::directory_iterator(rig.data() / "bundles")) {
      if (entry.path().filename().string().starts_with(".new-")) staging = entry.path();
    }
    return !staging.empty() && fs::exists(staging / "notes.yaml") && fs::exists(staging / "notes.so");
  }));
  command.signal(SIGKILL);
  REQUIRE(command.wait()->signal == SIGKILL);
  CHECK(fs::exists(staging));
  rig.start();
  CHECK(rig.of_bundle("state") == "loaded");
  CHECK(rig.installed() == before);
  CHECK_FALSE(fs::exists(staging));
}

}  // namespace KRUXOS_TEST_FILE
