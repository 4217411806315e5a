#include "host/cli/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace krux::cli {
namespace {

constexpr std::size_t kMaxSecret = 16 * 1024;
constexpr std::array<std::string_view, 2> kSecretVariables{"KRUXOS_CLIENT_SECRET", "KRUXOS_API_KEY"};

termios shown_settings;  // for the handler, which may touch nothing else

extern "C" void show_again(int signal) {
  tcsetattr(STDIN_FILENO, TCSANOW, &shown_settings);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// The terminal does not echo while this lives, or what else `flags` name, and is as it was again however the program
/// ends.
class Hidden {
 public:
  explicit Hidden(tcflag_t flags = ECHO) {
    tcgetattr(STDIN_FILENO, &shown_settings);
    struct sigaction action {};
    action.sa_handler = show_again;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
    termios hidden = shown_settings;
    hidden.c_lflag &= ~flags;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  ~Hidden() {
    tcsetattr(STDIN_FILENO, TCSANOW, &shown_settings);
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  static constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, 4> before_{};
};

/// Byte by byte and past the streams, which would keep a copy. `ended`: there was nothing more to read.
SecretBytes read_secret_line(bool* ended = nullptr) {
  SecretBytes line;
  char c = 0;
  ssize_t got = 0;
  while (line.size() < kMaxSecret && (got = ::read(STDIN_FILENO, &c, 1)) == 1 && c != '\n') line.push_back(c);
  if (ended) *ended = got != 1;
  c = 0;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

bool colours_wanted() {
  const char *no_color = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
  return !(no_color && *no_color) && !(term && std::strcmp(term, "dumb") == 0);
}

/// What a program that is started here may have of this one's environment: no secret.
std::vector<char*> environment_of_others() {
  std::vector<char*> kept;
  for (char** at = environ; *at; ++at) {
    const std::string_view one(*at);
    const bool secret = std::any_of(kSecretVariables.begin(), kSecretVariables.end(), [&](std::string_view name) {
      return one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=';
    });
    if (!secret) kept.push_back(*at);
  }
  kept.push_back(nullptr);
  return kept;
}

class SystemConsole final : public Console {
 public:
  std::ostream& out() override { return std::cout; }
  std::ostream& err() override { return std::cerr; }
  std::string print_at_once(const std::string& text) override {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    errno = 0;
    std::cout << text << std::flush;
    const int error = errno;
    sigaction(SIGPIPE, &before, nullptr);
    if (std::cout) return {};
    return error == 0 ? "standard output is closed" : std::generic_category().message(error);
  }

  bool reads_terminal() const override { return ::isatty(STDIN_FILENO) == 1; }
  bool writes_terminal() const override { return ::isatty(STDOUT_FILENO) == 1; }

  bool colours() const override { return colours_wanted() && writes_terminal(); }
  bool error_colours() const override { return colours_wanted() && ::isatty(STDERR_FILENO) == 1; }

  int width() const override {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* columns = std::getenv("COLUMNS");
    const int given = columns ? std::atoi(columns) : 0;
    return given > 0 ? given : 80;
  }

  int height() const override {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
  }

  std::optional<std::string> read_line(const std::string& prompt) override {
    if (reads_terminal()) std::cerr << prompt << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }

  SecretBytes read_secret(const std::string& prompt) override {
    if (!reads_terminal()) return read_secret_line();
    std::cerr << prompt << std::flush;
    SecretBytes line;
    {
      const Hidden hidden;
      line = read_secret_line();
    }
    std::cerr << "\n";
    return line;
  }

  void progress(const std::string& line) override {
    if (writes_terminal()) std::cout << "\r\x1b[K" << line << std::flush;
  }
  void sleep_ms(int ms) override { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  /// A file's lines are all there before anything was asked: they are somebody else's.
  static bool reads_pipe() {
    struct stat info {};
    return ::fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  }

  std::optional<std::string> line_within(int ms) override {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (input_ended_ || !(reads_terminal() || reads_pipe())) {
      sleep_ms(ms);
      return std::nullopt;
    }
    if (::poll(&input, 1, ms) != 1) return std::nullopt;
    // No stream reads ahead what poll() would then not see.
    const auto line = read_secret_line(&input_ended_);
    if (input_ended_ && line.empty()) return std::nullopt;
    return std::string(as_view(line));
  }

  void read_keys(bool on) override {
    keys_.reset();
    if (on) keys_.emplace(ECHO | ICANON);
  }

  std::optional<char> key_within(int ms) override {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char key = 0;
    if (::poll(&input, 1, ms) != 1 || ::read(STDIN_FILENO, &key, 1) != 1) return std::nullopt;
    return key;
  }

  bool open_browser(const std::string& address) override {
    const auto is_set = [](const char* name) {
      const char* value = std::getenv(name);
      return value && *value;
    };
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
    std::string program = "xdg-open", argument = address;
    std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
    auto others = environment_of_others();
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments.data(), others.data());
    posix_spawn_file_actions_destroy(&quiet);
    return error == 0;
  }

 private:
  std::optional<Hidden> keys_;
  bool input_ended_ = false;
};

}  // namespace

Console& system_console() {
  static SystemConsole console;
  return console;
}

}  // namespace krux::cli
