#include "host/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "core/util/clock.hpp"
#include "core/util/json_out.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/completing.hpp"
#include "host/cli/help_page.hpp"
#include "host/cli/parsed.hpp"
#include "host/cli/passphrase_input.hpp"
#include "host/cli/usage_errors.hpp"
#include "host/cli/word_walk.hpp"

namespace krux::cli {
namespace {

constexpr int kTimeoutSeconds = 120;

std::string default_data_dir() {
  if (const char* given = std::getenv("KRUXOS_DATA_DIR"); given && *given) return given;
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.local/share/kruxos";
}

std::filesystem::path socket_of(const std::string& socket, const std::string& data_dir) {
  if (!socket.empty()) return socket;
  return std::filesystem::path(data_dir.empty() ? default_data_dir() : data_dir) / "control.sock";
}

/// By the option, else by the environment.
std::string operator_named(const Parsed& p) {
  const char* given = std::getenv("KRUXOS_OPERATOR");
  return p.operator_name.empty() && given ? given : p.operator_name;
}

int fail(Console& console, ExitCode code, const std::string& sentence) {
  console.err() << styled_error(console, "kruxos: ", Style::kBad) << sentence << std::endl;
  return code;
}

/// What was printed may be what the command was for.
int ended(Console& console, int code) {
  errno = 0;
  console.out() << std::flush;
  if (console.out()) return code;
  const auto why = errno == 0 ? std::string() : ": " + std::generic_category().message(errno);
  return fail(console, code == kOk ? kFailed : static_cast<ExitCode>(code),
              fmt::format("Standard output could not be written{}. What was asked for may be done all the same.", why));
}

/// The host's own words, where it gave some.
std::string json_of(const CliError& error) {
  if (!error.json().empty()) return error.json();
  return fmt::format(R"({{"error":{{"message":{},"exit_code":{}}}}})", json_string(error.what()),
                     static_cast<int>(error.code()));
}

int run(const Parsed& parsed, Console& console, const VerifyPlugin& verify, const CertifyAdapter& certify,
        const InspectBundle& inspect_bundle) {
  const auto data_dir = parsed.data_dir.empty() ? default_data_dir() : parsed.data_dir;
  const auto ask = [&](const std::string& name) { return operators_passphrase(console, parsed.passphrase_file, name); };
  const Session session{
      console,        ControlClient(socket_of(parsed.socket, data_dir), ask, kTimeoutSeconds, operator_named(parsed)),
      parsed.json,    SystemClock().wall_ms(),
      verify,         certify,
      inspect_bundle, parsed.socket.empty() ? data_dir : ""};
  try {
    return ended(console, parsed.run(session));
  } catch (const CliError& error) {
    console.progress("");
    if (parsed.json) console.out() << json_of(error) << std::endl;
    return fail(console, error.code(), error.what());
  } catch (const std::exception& error) {
    return fail(console, kFailed, error.what());
  }
}

/// The command that `words` name, as in "help agent create".
int help_about(Console& console, const CLI::App& app, const std::vector<std::string>& words) {
  const auto walk = walk_words(app, words);
  if (walk.unknown_command.empty() && walk.unknown_option.empty() && walk.positionals.empty()) {
    print_help(console, *walk.command);
    return ended(console, kOk);
  }
  std::vector<std::string> names;
  for (const auto* one : commands_of(*walk.command)) names.push_back(one->get_name());
  const auto& wrong = !walk.unknown_command.empty()  ? walk.unknown_command
                      : !walk.unknown_option.empty() ? walk.unknown_option
                                                     : walk.positionals.front();
  return fail(console, kUsage,
              fmt::format("{} has no command \"{}\"{}. See: {} --help", walk.path, printable(wrong),
                          did_you_mean(wrong, names), walk.path));
}

int complete(Console& console, const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto host_of = [](const std::string& socket, const std::string& data_dir) {
    return ControlClient(socket_of(socket, data_dir));
  };
  console.out() << completions(app, {arguments.begin() + 1, arguments.end()}, host_of);
  return ended(console, kOk);
}

}  // namespace

int print_version(const Session& session) {
  if (session.json) {
    session.console.out() << "{\"version\":\"" KRUXOS_VERSION "\"}\n";
  } else {
    session.console.out() << "kruxos " KRUXOS_VERSION "\n";
  }
  return kOk;
}

int run_command(const std::vector<std::string>& arguments, Console& console, const VerifyPlugin& verify,
                const CertifyAdapter& certify, const InspectBundle& inspect_bundle) {
  Parsed parsed;
  CLI::App app;
  build_tree(app, parsed);
  if (!arguments.empty() && arguments.front() == kCompleteCommand) return complete(console, app, arguments);
  const auto walk = walk_words(app, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    print_help(console, *walk.command);
    return ended(console, kOk);
  } catch (const CLI::ParseError& error) {
    if (!parsed.version) return fail(console, kUsage, usage_error(app, error, arguments));
    parsed.run = print_version;
  }
  if (walk.path == "kruxos help") return help_about(console, app, parsed.help);
  return run(parsed, console, verify, certify, inspect_bundle);
}

}  // namespace krux::cli
