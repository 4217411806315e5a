// A console for tests.
#pragma once

#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "host/cli/terminal.hpp"

namespace krux::test {

class FakeConsole final : public cli::Console {
 public:
  std::ostringstream out_text, err_text;
  bool terminal = false, colour = false;
  bool error_colour = false;
  int columns = 80, rows = 24;
  std::deque<std::string> lines;  ///< what is typed
  std::function<void()> before_line = [] {};
  std::string out_problem;  ///< why nothing can be written to out()
  std::string prompts, progress_text;
  bool in_keys = false;       ///< what it gives now
  bool line_in_keys = false;  ///< somebody has read a line where keys come
  std::string keys;           ///< what is pressed; ' ' is nothing for a while, and behind the last comes 'q'
  bool has_browser = false;
  std::vector<std::string> opened;
  std::function<void()> on_sleep = [] {}, when_opened = [] {};

  std::ostream& out() override { return out_text; }
  std::ostream& err() override { return err_text; }
  std::string print_at_once(const std::string& text) override {
    if (out_problem.empty()) out_text << text;
    return out_problem;
  }
  bool reads_terminal() const override { return terminal; }
  bool writes_terminal() const override { return terminal; }
  bool colours() const override { return colour; }
  bool error_colours() const override { return error_colour; }
  int width() const override { return columns; }
  int height() const override { return rows; }
  std::optional<std::string> read_line(const std::string& prompt) override {
    prompts += prompt;
    line_in_keys = line_in_keys || in_keys;
    before_line();
    if (lines.empty()) return std::nullopt;
    auto line = lines.front();
    lines.pop_front();
    return line;
  }
  SecretBytes read_secret(const std::string& prompt) override { return make_secret(read_line(prompt).value_or("")); }
  void progress(const std::string& line) override { progress_text += line + "|"; }
  void sleep_ms(int) override { on_sleep(); }
  std::optional<std::string> line_within(int) override {
    on_sleep();
    return read_line("");
  }
  void read_keys(bool on) override { in_keys = on; }
  std::optional<char> key_within(int) override {
    on_sleep();
    if (keys.empty()) return 'q';
    const auto key = keys.front();
    keys.erase(0, 1);
    return key == ' ' ? std::nullopt : std::optional(key);
  }
  bool open_browser(const std::string& address) override {
    opened.push_back(address);
    when_opened();
    return has_browser;
  }
};

}  // namespace krux::test
