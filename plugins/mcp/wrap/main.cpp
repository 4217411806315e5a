// kruxos-wrap-mcp: makes the adapter of an upstream MCP server. `kruxos adapter wrap` starts it.
#include <CLI/CLI.hpp>

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "../http_link.hpp"
#include "../options.hpp"
#include "../text.hpp"
#include "curl_client.hpp"
#include "places.hpp"

namespace {

using namespace mcp;

constexpr const char* kNobody = "Nobody can be asked here: say --yes when you agree.";
constexpr int kUsage = 2;  ///< as kruxos has it

struct Asked {
  Plan plan;
  Places places;
  std::string server, environment_file, sandbox = "bwrap";
  std::vector<std::string> words, readable;
  bool network = false, allow_root = false, yes = false;
  int seconds = 60, memory_mib = 0;
};

class Failed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::filesystem::path shipped_library() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* at : {"../../lib/kruxos/wrapping/mcp.so", "../lib/kruxos/wrapping/mcp.so", "../wrapping/mcp.so"}) {
    if (const auto file = (here / at).lexically_normal(); std::filesystem::exists(file, error)) return file;
  }
  throw Failed("mcp.so, which is copied for each server, is not where it is installed. Name it with --library.");
}

/// What is typed is not shown.
class Hidden {
 public:
  Hidden() : changed_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    auto now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (changed_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
  }
  ~Hidden() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  termios before_{};
  const bool changed_;
};

std::string token_of(const Asked& asked) {
  if (!asked.plan.token) return {};
  if (isatty(STDIN_FILENO) != 0) std::cout << "Token: " << std::flush;
  std::string token;
  {
    const Hidden hidden;
    (void)std::getline(std::cin, token);
  }
  if (isatty(STDIN_FILENO) != 0) std::cout << '\n';
  const auto begin = token.find_first_not_of(" \t\r"), end = token.find_last_not_of(" \t\r");
  if (begin == std::string::npos) throw Failed("The token is read from standard input, and there is none.");
  return token.substr(begin, end - begin + 1);
}

std::vector<Tool> tools_of(const Asked& asked) {
  const PlainCall call(asked.seconds);
  if (!asked.plan.url.empty()) {
    const auto at = address_of(asked.plan.url);
    const CurlClient client(at.base, token_of(asked));
    HttpLink link(client.client(), at.path);
    return list_tools(call.call(), link);
  }
  StdioOptions options;
  options.command = asked.plan.command;
  options.confinement.network = asked.network;
  options.confinement.readable = asked.readable;
  options.confinement.environment_file = asked.environment_file;
  options.confinement.sandbox = asked.sandbox;
  if (asked.memory_mib > 0) options.confinement.memory_mib = asked.memory_mib;
  options.allow_root = asked.allow_root;
  options.allow_root_key = "--allow-root";
  confined::check(options.confinement);
  StdioLink link(std::move(options));
  return list_tools(call.call(), link);
}

void show(const char* what, const std::vector<std::string>& tools) {
  if (tools.empty()) return;
  std::cout << what << ":";
  for (const auto& tool : tools) std::cout << ' ' << one_line(tool, 80);
  std::cout << '\n';
}

void show(const Wrapping& wrapping, const std::vector<Tool>& tools) {
  for (const auto& tool : wrapping.wrapped.tools) {
    const auto said = std::find_if(tools.begin(), tools.end(), [&](const Tool& one) { return one.name == tool.tool; });
    std::cout << "  " << (tool.reads ? "read   " : "write  ") << tool.capability << "  "
              << one_line(said->description, 100) << '\n';
  }
}

bool agrees(const Asked& asked) {
  if (asked.yes) return true;
  if (isatty(STDIN_FILENO) == 0) throw Failed(kNobody);
  std::cout << "Do you agree to these? [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

std::string lines_for_configuration(const Asked& asked) {
  const auto& plan = asked.plan;
  std::string inner;
  if (!plan.url.empty() && plan.url.starts_with("http://"))
    inner += "    api_base_url: " + address_of(plan.url).base + "\n";
  std::string adapter;
  if (asked.network) adapter += "      network: true\n";
  if (!asked.readable.empty()) adapter += "      readable: " + kruxos::kit::quoted_list(asked.readable) + "\n";
  if (!asked.environment_file.empty())
    adapter += "      environment_file: " + kruxos::kit::quoted(asked.environment_file) + "\n";
  if (asked.sandbox != "bwrap") adapter += "      sandbox: " + kruxos::kit::quoted(asked.sandbox) + "\n";
  if (asked.memory_mib > 0) adapter += "      memory_mib: " + std::to_string(asked.memory_mib) + "\n";
  if (asked.allow_root) adapter += "      allow_root: true\n";
  if (!adapter.empty()) inner += "    adapter:\n" + adapter;
  return "services:\n  " + plan.service + ":" + (inner.empty() ? " {}\n" : "\n" + inner);
}

void tell_next(const Asked& asked, const std::optional<std::filesystem::path>& beside) {
  const auto& plan = asked.plan;
  std::cout << "\nRead " << asked.places.definition(plan.service).string() << " and tighten it as you like.\n";
  if (beside)
    std::cout << "It stayed as it was. What the server's tools would have now is in " << beside->string()
              << ": compare the two.\n";
  if (!plan.token || !plan.url.starts_with("https://"))
    std::cout << "Put this into kruxos.yaml, where it is not there yet:\n\n" << lines_for_configuration(asked) << '\n';
  std::cout << "Then start the host again" << (plan.token ? ", and connect it: kruxos connect " + plan.service : "")
            << ".\n";
}

int wrap_server(Asked asked) {
  auto& plan = asked.plan;
  if (asked.server.find("://") != std::string::npos) {
    plan.url = asked.server;
    (void)address_of(plan.url);
    if (!asked.words.empty()) throw Failed("A server at an address takes no further words.");
    const auto base = address_of(plan.url).base;
    const auto host = base.substr(0, base.find('/', base.find("://") + 3));
    const auto is = [&](const std::string& here) { return host == here || host.starts_with(here + ":"); };
    if (base.starts_with("http://") && !is("http://127.0.0.1") && !is("http://[::1]"))
      throw Failed("The host speaks plain http only to 127.0.0.1 and [::1]: give an https address.");
  } else {
    plan.command = {asked.server};
    plan.command.insert(plan.command.end(), asked.words.begin(), asked.words.end());
    if (plan.token)
      throw Failed("A program gets its own credentials from --environment-file; --token is for addresses.");
  }
  // The token takes the one line that there is.
  if (plan.token && !asked.yes && isatty(STDIN_FILENO) == 0) throw Failed(kNobody);
  if (plan.display_name.empty()) plan.display_name = plan.service;
  if (!is_plain(plan.service)) throw Failed("The name is small letters, digits and _, a letter first, at most 23.");
  if (asked.places.library.empty()) asked.places.library = shipped_library();
  const auto before = agreed_before(asked.places, plan.service);
  const auto tools = tools_of(asked);
  const auto wrapping = wrap(plan, tools, before ? &*before : nullptr);
  if (before) {
    const auto now = differences(*before, wrapping.wrapped);
    if (!now.any()) {
      std::cout << "Nothing has changed: the server's tools are those that you have agreed to.\n";
      if (complete(asked.places, wrapping))
        std::cout << "The definition was missing, or the adapter was not the one that is shipped now: that is written "
                     "anew. Start the host again.\n";
      return 0;
    }
    if (now.moved) {
      const auto old = before->is_program() ? kruxos::kit::quoted_list(before->command) : before->url;
      std::cout << "Another server than before: that was " << one_line(old, 1'000) << '\n';
    }
    show("New", now.added);
    show("Changed", now.changed);
    show("Gone", now.gone);
  }
  show(wrapping, tools);
  show("Left out, for the host takes no more of one service", wrapping.left_out);
  if (!agrees(asked)) {
    std::cout << "Nothing was written.\n";
    return 1;
  }
  tell_next(asked, put(asked.places, wrapping));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Make the tools of an MCP server capabilities of the host", "kruxos adapter wrap");
  Asked asked;
  app.add_option("SERVICE", asked.plan.service, "What it is called here: small letters, digits and _")->required();
  app.add_option("SERVER", asked.server, "Its address, or the program (its words behind --)")->required();
  app.add_option("WORDS", asked.words, "Further words of the program");
  app.add_option("--display-name", asked.plan.display_name, "For people; SERVICE unless given");
  app.add_option("--adapters", asked.places.adapters, "The host's plugins_dir")->required();
  app.add_option("--definitions", asked.places.definitions, "The host's definitions_dir")->required();
  app.add_option("--library", asked.places.library, "The adapter that is copied, where it lies elsewhere");
  app.add_flag("--token", asked.plan.token,
               "The server wants a token: read it from standard input, and keep it nowhere");
  app.add_flag("--network", asked.network, "The program may use the network");
  app.add_option("--readable", asked.readable, "A directory that the program may read (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--environment-file", asked.environment_file,
                 "NAME=VALUE lines for the program, which nobody else reads");
  app.add_option("--sandbox", asked.sandbox, "bubblewrap, where it lies elsewhere");
  app.add_option("--memory-mib", asked.memory_mib, "Of all its processes together; 512 unless given")
      ->check(CLI::Range(16, 67'108'864));
  app.add_flag("--allow-root", asked.allow_root, "Start the program although this runs as root");
  app.add_option("--time-limit", asked.seconds, "Seconds to wait for the server")->check(CLI::Range(1, 600));
  app.add_flag("-y,--yes", asked.yes, "Agree to what the server has");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  try {
    return wrap_server(std::move(asked));
  } catch (const kruxos::ProxyError& error) {
    const bool token = error.kind() == kruxos::ErrorKind::kAuth;
    std::cerr << "kruxos adapter wrap: " << one_line(error.what(), 1'000)
              << (token ? " Give one on standard input, with --token." : "") << '\n';
  } catch (const RpcError& error) {
    std::cerr << "kruxos adapter wrap: the server refuses: " << one_line(error.what(), 500) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "kruxos adapter wrap: " << one_line(error.what(), 1000) << '\n';
  }
  return 1;
}
