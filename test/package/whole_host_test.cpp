// A new adapter as `kruxos adapter new` writes it, at work in a host, against the fake service that it brings along.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "core/util/json.hpp"
#include "package/machine.hpp"
#include "support/http.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
namespace fs = std::filesystem;

namespace {

/// The fake service, the host with the adapter, and an agent; as the new adapter's README has it.
class Trial {
 public:
  explicit Trial(const fs::path& bundle) : bundle_(bundle), directory_(fs::canonical(scratch_.path())) {
    fake_ = std::make_unique<Process>(
        Command{{KRUXOS_PYTHON, (bundle / "fake_acme_items.py").string(), "--port", "0", "--token", "test-token"}, {}});
    const auto line = fake_->wait_for_line("serving on 127.0.0.1:");
    REQUIRE(line);
    service_port_ = static_cast<std::uint16_t>(std::stoi(line->substr(line->rfind(':') + 1)));
    configure();
    install();
    Command host{{KRUXOS_HOST, "--config", (directory_ / "kruxos.yaml").string()}, {}};
    host.stdin_text = std::nullopt;
    host_ = std::make_unique<Process>(host);
    INFO(host_->output(Stream::err));
    REQUIRE(host_->wait_for_line("ready http://", milliseconds(60'000)));
    operate({"connect", "acme_items"}, "test-token\n");
    operate({"sync", "acme_items", "--wait"});
    key_ = operate({"agent", "create", "al"});
    key_.pop_back();
  }

  std::string operate(std::vector<std::string> arguments, const std::string& in = {}) const {
    arguments.insert(arguments.begin(), {KRUXOS_COMMAND, "--data-dir", (directory_ / "data").string()});
    Command command{arguments, {}};
    command.stdin_text = in;
    const auto done = run(command, milliseconds(60'000));
    INFO(arguments[3] << ": " << done.out << done.err << host_->output(Stream::err));
    REQUIRE(done.status.ok());
    return done.out;
  }

  std::string invoke(const std::string& capability, const std::string& arguments) const {
    std::ifstream file(directory_ / "data/ports.json");
    const auto ports = parse_json(std::string(std::istreambuf_iterator<char>(file), {}), "ports.json");
    const auto reply =
        http_request(static_cast<std::uint16_t>(*find_int(ports, "gateway")), "POST", "/rpc",
                     {{"authorization", "Bearer " + key_}, {"content-type", "application/json"}},
                     R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":")" + capability +
                         R"(","arguments":)" + arguments + "}}",
                     milliseconds(30'000));
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.body;
  }
  /// The service's items, as it has them itself.
  std::string items() const {
    return http_request(service_port_, "GET", "/items", {{"authorization", "Bearer test-token"}}).body;
  }

 private:
  void configure() const {
    for (const auto* name : {"adapters", "definitions"}) {
      fs::create_directory(directory_ / name);
      fs::permissions(directory_ / name, fs::perms::owner_all);
    }
    std::ofstream(directory_ / "kruxos.yaml")
        << "data_dir: data\nplaces_dir: places\nplugins_dir: adapters\ndefinitions_dir: definitions\nvault_key_file: "
           "vault.key\n"
        << "server: {port: 0, health_port: 0}\noperator: {agents_share_user: false}\nwrite_buffer: {delays: "
           "{items.create: 0, items.delete: 0}}\n"
        << "services: {acme_items: {api_base_url: \"http://127.0.0.1:" << service_port_ << "/\"}}\n";
  }

  /// Before there is a host.
  void install() const {
    const auto done = run(
        {{KRUXOS_COMMAND, "--data-dir", (directory_ / "data").string(), "plugin", "install", bundle_.string(), "--yes"},
         {}},
        milliseconds(60'000));
    INFO(done.out << done.err);
    REQUIRE(done.status.ok());
  }

  const support::Scratch scratch_;
  const fs::path bundle_, directory_;
  std::unique_ptr<Process> fake_, host_;
  std::uint16_t service_port_ = 0;
  std::string key_;
};

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

std::string text_member(const std::string& json, const std::string& name) {
  const auto at = json.find('"' + name + "\":\"");
  REQUIRE(at != std::string::npos);
  const auto from = at + name.size() + 4;
  return json.substr(from, json.find('"', from) - from);
}

}  // namespace

TEST_CASE("a new adapter builds at once, is certified, and works in a host: synced, searched, written to and undone") {
  const Machine machine;
  must({KRUXOS_COMMAND, "adapter", "new", "acme_items", "--prefix", "items", "--display-name", "Acme's Items"},
       machine.home);
  const auto bundle =
      machine.build(machine.home / "acme_items", KRUXOS_CXX, "-Wall -Wextra -Wpedantic -Werror") / "acme_items";
  load(bundle, "acme_items", "items");
  must({KRUXOS_COMMAND, "adapter", "certify", bundle});
  CHECK(fs::exists(bundle / "certificate.json"));
  const Trial trial(bundle);
  CHECK_THAT(trial.invoke("items.search", R"({"query":"ITEM 3"})"), Catch::Contains("\"total\":1"));
  CHECK_THAT(trial.invoke("items.read", R"({"item_id":"i9"})"), Catch::Contains("ItemNotFound"));

  const auto made = trial.invoke("items.create", R"({"text":"made by an agent"})");
  const auto write_id = text_member(made, "write_id");
  const auto state = [&] { return trial.operate({"--json", "approve", "show", write_id}); };
  REQUIRE(eventually([&] { return state().find(R"("state":"completed")") != std::string::npos; }));
  CHECK_THAT(trial.items(), Catch::Contains("made by an agent") && Catch::Contains(write_id));
  trial.operate({"sync", "acme_items", "--wait"});
  CHECK_THAT(trial.invoke("items.search", R"({"query":"by an AGENT"})"), Catch::Contains("\"total\":1"));

  trial.operate({"approve", "rollback", write_id, "--yes"});
  CHECK(eventually([&] { return trial.items().find("made by an agent") == std::string::npos; }));

  trial.invoke("items.delete", R"({"item_id":"i1"})");
  CHECK(eventually([&] { return trial.items().find("\"i1\"") == std::string::npos; }));
  trial.operate({"sync", "acme_items", "--wait"});
  CHECK_THAT(trial.invoke("items.search", "{}"), Catch::Contains("\"total\":4"));
}

}  // namespace KRUXOS_TEST_FILE
