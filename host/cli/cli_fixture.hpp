// The operator's command run against a host that answers what a test lays out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/cli/command_line.hpp"
#include "host/cli/fake_console.hpp"
#include "host/http/http_server.hpp"
#include "host/operator/control_server.hpp"
#include "host/operator/fake_operator.hpp"
#include "support/scratch.hpp"

namespace krux::test {

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A host, and the command run against it.
struct CliFixture {
  support::Scratch scratch;
  FakeOperator api;
  ControlServer control{api};
  HttpServer server;
  FakeConsole console;

  CliFixture() { server.listen_unix(scratch.path() / "control.sock", control.handler()); }
  ~CliFixture() { server.stop(0); }

  int run(std::vector<std::string> arguments) {
    console.out_text.str("");
    console.err_text.str("");
    arguments.insert(arguments.begin(), {"--data-dir", scratch.path()});
    return cli::run_command(arguments, console, [](const auto& file, const auto& definitions) {
      return cli::VerifyReport{file == "good.so", "report of " + file.string() + "\n",
                               R"({"definitions":")" + definitions.string() + "\"}"};
    });
  }
  std::string out() const { return console.out_text.str(); }
  std::string err() const { return console.err_text.str(); }
};

}  // namespace krux::test
