// mcp-emulator: an MCP server for tests, over standard input and output or Streamable HTTP. test/emulators/README.md.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulators/common/program.hpp"
#include "emulators/mcp/http.hpp"
#include "emulators/mcp/stdio.hpp"

namespace {

using namespace krux::test;

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(fmt::format("{} cannot be read.", file));
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Options {
  mcp_server::Settings settings;
  std::string script;
  bool stdio = false, events = false;

  mcp_server::Settings complete() const {
    auto all = settings;
    if (!script.empty()) all.script = mcp_server::parse_script(content_of(script));
    return all;
  }
};

void describe_server(CLI::App& app, Options& options) {
  app.add_flag("--stdio", options.stdio, "standard input and output, one message a line; otherwise HTTP at /mcp");
  app.add_option("--revision", options.settings.revision, "of the protocol")
      ->check(CLI::IsMember({"2025-11-25", "2026-07-28"}));
  app.add_option("--speaks", options.settings.speaks, "the version that it says it speaks, whatever it is asked");
  app.add_option("--journal", options.settings.journal, "a file that gets one line for each effect");
  app.add_option("--log", options.settings.log, "a file that gets each message that came, one a line");
  app.add_option("--script", options.script, "a file of JSON: further tools, and faults");
  app.add_flag("--sse", options.events, "over HTTP, answers are text/event-stream");
}

int serve_stdio(CLI::App& app, int argc, char** argv, const Options& options, const emulator::ProgramOptions& program) {
  CLI11_PARSE(app, argc, argv);
  if (program.die_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return mcp_server::run_stdio(options.complete());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An MCP server, for tests", "mcp-emulator");
  emulator::ProgramOptions program;
  Options options;
  describe(app, program);
  describe_server(app, options);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::find(words.begin(), words.end(), "--stdio") != words.end())
    return serve_stdio(app, argc, argv, options, program);
  return run_program(app, argc, argv, program, 16u << 20, [&](emulator::RunLater, std::uint16_t) {
    auto endpoint = std::make_shared<mcp_server::Endpoint>(options.complete(), options.events);
    return [endpoint](const emulator::HttpRequest& request, std::shared_ptr<emulator::Responder> responder) {
      endpoint->handle(request, std::move(responder));
    };
  });
}
