#include "host/cli/watching.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>

#include "core/util/clock.hpp"
#include "host/cli/table.hpp"

namespace krux::cli {
namespace {

constexpr const char *kEmptyScreen = "\x1b[2J\x1b[H", *kTop = "\x1b[H", *kEndOfLine = "\x1b[K", *kRest = "\x1b[J";
/// Below what is shown: how it ends, and a line for the cursor.
constexpr int kLinesBelow = 3;

/// What is written is kept until it is drawn in one go, so that nothing flickers.
class Frame final : public Console {
 public:
  explicit Frame(Console& screen) : screen_(screen) {}
  std::string text() const { return text_.str(); }

  std::ostream& out() override { return text_; }
  std::ostream& err() override { return text_; }
  std::string print_at_once(const std::string& text) override {
    text_ << text;
    return {};
  }
  bool reads_terminal() const override { return screen_.reads_terminal(); }
  bool writes_terminal() const override { return screen_.writes_terminal(); }
  bool colours() const override { return screen_.colours(); }
  bool error_colours() const override { return screen_.colours(); }
  int width() const override { return screen_.width(); }
  int height() const override { return screen_.height(); }
  std::optional<std::string> read_line(const std::string&) override { return std::nullopt; }
  SecretBytes read_secret(const std::string&) override { return {}; }
  void progress(const std::string&) override {}
  void sleep_ms(int ms) override { screen_.sleep_ms(ms); }
  std::optional<std::string> line_within(int) override { return std::nullopt; }
  void read_keys(bool) override {}
  std::optional<char> key_within(int) override { return std::nullopt; }
  bool open_browser(const std::string&) override { return false; }

 private:
  Console& screen_;
  std::ostringstream text_;
};

/// Of the screen, on which what is too long goes on in the next one. Colours take none.
int rows_of(const std::string& line, int width) {
  std::string seen;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b') {
      at = std::min(line.find('m', at), line.size());
    } else {
      seen += line[at];
    }
  }
  return std::max(1, (display_width(seen) + width - 1) / std::max(1, width));
}

/// As many lines as fit, each of which takes the place of the one that stood there.
void draw(Console& screen, const std::string& text) {
  auto& out = screen.out();
  const int room = std::max(1, screen.height() - kLinesBelow);
  std::istringstream lines(text);
  std::string line;
  int drawn = 0, left_out = 0;
  out << kTop;
  while (std::getline(lines, line)) {
    const int rows = rows_of(line, screen.width());
    if (left_out > 0 || drawn + rows > room) {
      ++left_out;
      continue;
    }
    out << line << kEndOfLine << "\n";
    drawn += rows;
  }
  out << kEndOfLine << "\n"
      << styled(screen, (left_out > 0 ? std::to_string(left_out) + " lines more.   " : std::string()) + "q: end",
                Style::kDim)
      << kEndOfLine << "\n"
      << kRest << std::flush;
}

std::string shown_by(const Session& session, const std::function<int(const Session&)>& show, bool first) {
  Frame frame(session.console);
  const Session now{frame,           session.host,           false,           SystemClock().wall_ms(), session.verify,
                    session.certify, session.inspect_bundle, session.data_dir};
  try {
    show(now);
  } catch (const CliError& error) {
    if (first) throw;
    frame.out() << error.what() << "\n";
  }
  return frame.text();
}

}  // namespace

int watch(const Session& session, const std::function<int(const Session&)>& show) {
  auto& screen = session.console;
  if (session.json || !screen.reads_terminal() || !screen.writes_terminal())
    throw CliError(kUsage,
                   "--watch is for a terminal, and goes without --json. Without it the command shows once what "
                   "there is.");
  auto shown = shown_by(session, show, true);
  const Keys keys(screen, true);
  screen.out() << kEmptyScreen;
  for (;;) {
    draw(screen, shown);
    const auto key = screen.key_within(kLookEveryMs);
    if (key == 'q' || !screen.out()) return kOk;
    shown = shown_by(session, show, false);
  }
}

}  // namespace krux::cli
