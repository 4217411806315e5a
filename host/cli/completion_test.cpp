#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

struct CompletionFixture : CliFixture {
  CompletionFixture() {
    api.answers["connections"] =
        R"({"connections":[{"service":"chat","state":"connected","name":"work","account_id":"T1","account_name":"Acme"},)"
        R"({"service":"mail","state":"not connected"}]})";
    api.answers["connection chat"] =
        R"({"connection":{"oauth":{"profiles":[{"name":"full"},{"name":"read"}],"flows":[{"name":"web"}]}}})";
    api.answers["agents"] = R"({"agents":[{"name":"helper","agent_id":"agent_1"},{"name":"other one"}]})";
    api.answers["writes"] =
        R"({"writes":[{"write_id":"w_01a20595-99d5-7000-8000-000000000001","operation":"chat.send","summary":"Hello"},)"
        R"({"write_id":"w_01a20595-99d5-7001-8000-000000000002","operation":"chat.send","summary":"There"}]})";
  }

  /// The words that may follow, without their meanings.
  std::vector<std::string> after(std::vector<std::string> words) {
    words.insert(words.begin(), {"--data-dir", scratch.path()});
    return plain(std::move(words));
  }
  std::vector<std::string> plain(std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    console.out_text.str("");
    CHECK(cli::run_command(words, console, {}) == 0);
    std::vector<std::string> found;
    std::istringstream lines(console.out_text.str());
    for (std::string line; std::getline(lines, line);) found.push_back(line.substr(0, line.find('\t')));
    return found;
  }

  /// What a real shell offers, by a program of `shell` that prints it, one a line.
  std::string in_shell(const std::string& shell, const std::string& program) {
    const auto file = scratch.path() / "program", out = scratch.path() / "out";
    std::ofstream(file) << program;
    const auto command = "PATH=\"" + std::filesystem::path(KRUXOS_COMMAND).parent_path().string() +
                         ":$PATH\" HOME=" + scratch.path().string() + " KRUXOS_DATA_DIR=" + scratch.path().string() +
                         " " + shell + " " + file.string() + " > " + out.string() + " 2>&1";
    std::system(command.c_str());
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    return text.str();
  }
  std::string script(const std::string& shell) {
    const auto file = scratch.path() / ("completion." + shell);
    CHECK(run({"completion", shell}) == 0);
    std::ofstream(file) << out();
    return file.string();
  }
};

bool is_there(const char* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null 2>&1").c_str()) == 0;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("commands and options are completed from the tree", "[cli]") {
  CompletionFixture f;
  CHECK(f.plain({"sta"}) == Words{"status"});
  CHECK(f.plain({"agent", "r"}) == Words{"rotate", "resume", "revoke"});
  CHECK(f.plain({"approve", "resolve", "w_1", "--res"}) == Words{"--resend"});
  CHECK(f.plain({"connect", "chat", "--pro"}) == Words{"--profile"});
  CHECK(f.plain({"connect", "chat", "--token", "--tok"}).empty());  // it is there already
  CHECK(f.plain({"status", "--da"}) == Words{"--data-dir"});
  CHECK(f.plain({"completion", ""}) == Words{"bash", "zsh", "fish"});
  CHECK(f.plain({"help", "agent", "cr"}) == Words{"create"});
  CHECK(f.plain({"backup", ""}) == Words{":directories"});
  CHECK(f.plain({"plugin", "verify", "x"}) == Words{":files"});
  CHECK(f.plain({"--passphrase-file", ""}) == Words{":files"});
  CHECK(f.plain({"nonsense", ""}).empty());
  CHECK(f.plain({"agent", "create", "a", ""}).empty());
  CHECK(f.plain({"adapter", "wrap", "x"}).empty());
  CHECK(f.plain({}).size() > 20);
  const auto all = f.plain({""});
  CHECK(std::find(all.begin(), all.end(), "__complete") == all.end());
}

TEST_CASE("services, agents, accounts, profiles and writes are completed from the running host", "[cli]") {
  CompletionFixture f;
  CHECK(f.after({"sync", ""}) == Words{"chat", "mail"});
  CHECK(f.after({"connect", ""}) == Words{"chat", "mail", "status"});
  CHECK(f.after({"connect", "chat", "--profile", ""}) == Words{"full", "read"});
  CHECK(f.after({"connect", "chat", "--profile=r"}) == Words{"--profile=read"});
  CHECK(f.after({"connect", "chat", "--profile", "=", "r"}) == Words{"read"});  // as bash takes words apart
  CHECK(f.after({"disconnect", "chat", ""}) == Words{"work"});
  CHECK(f.after({"agent", "show", ""}) == Words{"helper"});  // a blank cannot be typed as it is
  CHECK(f.after({"approve", "list", "--service", "m"}) == Words{"mail"});
  CHECK(f.after({"approve", "show", "w_"}) == Words{"w_01a20595-99d5-7000", "w_01a20595-99d5-7001"});
  CHECK(f.after({"approve", "show", "w_01a20595-99d5-7001-8"}) == Words{"w_01a20595-99d5-7001-8000-000000000002"});
  f.api.asked();
  f.after({"approve", "accept", "w_01a20595-99d5-7000", "w_"});
  CHECK(has(f.api.asked().at(0), "writes pending_approval"));
  CHECK(f.after({"approve", "accept", "w_01a20595-99d5-7000", "w_"}) == Words{"w_01a20595-99d5-7001"});
}

TEST_CASE("without a host there is nothing to choose from, and no error", "[cli]") {
  CompletionFixture f;
  CHECK(f.plain({"--data-dir", "/nowhere", "sync", ""}).empty());
  CHECK(f.plain({"--data-dir", "/nowhere", "mcp", "--tools", ""}) == Words{"core", "all"});
  CHECK(f.console.err_text.str().empty());
}

TEST_CASE("bash completes by the script", "[cli]") {
  CompletionFixture f;
  const auto script = f.script("bash");
  const auto offered = [&](const std::string& words) {
    return f.in_shell("bash",
                      "source " + script + "\nCOMP_WORDS=(kruxos " + words +
                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_kruxos\nprintf '<%s>' \"${COMPREPLY[@]}\"\n");
  };
  CHECK(offered("sta") == "<status>");
  CHECK(offered("sync ''") == "<chat><mail>");
  CHECK(offered("agent show he") == "<helper>");
  CHECK(offered("connect chat --profile = r") == "<read>");
  CHECK(offered("backup /us") == "</usr>");
  CHECK(offered("nonsense x") == "<>");
  CHECK(f.in_shell("bash", "source " + script + "\ncomplete -p kruxos") == "complete -F _kruxos kruxos\n");
}

TEST_CASE("zsh completes by the script", "[cli]") {
  if (!is_there("zsh")) {
    WARN("zsh is not installed: its script was not run");
    return;
  }
  CompletionFixture f;
  const auto script = f.script("zsh");
  CHECK(f.in_shell("zsh -n", "source " + script).empty());
  const auto answer = f.in_shell("zsh -f", R"(
compadd() { local -a all; all=("${(@P)@[-1]}"); print -r -- "<${(j:><:)all}>" }
compdef() { : }
_files() { print files }
source )" + script + R"(
words=(kruxos sta); CURRENT=2; _kruxos
words=(kruxos sync ''); CURRENT=3; _kruxos
words=(kruxos agent show he); CURRENT=4; _kruxos
words=(kruxos plugin verify ''); CURRENT=4; _kruxos
)");
  CHECK(answer == "<status>\n<chat><mail>\n<helper>\nfiles\n");
}

TEST_CASE("fish completes by the script", "[cli]") {
  if (!is_there("fish")) {
    WARN("fish is not installed: its script was not run");
    return;
  }
  CompletionFixture f;
  const auto script = f.script("fish");
  const auto answer = f.in_shell("fish --no-config", "source " + script +
                                                         "\ncomplete -C 'kruxos sta'\ncomplete -C 'kruxos sync '\n"
                                                         "complete -C 'kruxos agent show he'\n");
  CHECK(
      answer ==
      "status\tThe host, its services and what waits for you\nchat\tconnected\nmail\tnot connected\nhelper\tagent_1\n");
}

}  // namespace KRUXOS_TEST_FILE
