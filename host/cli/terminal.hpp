// Where the `kruxos` command reads and writes.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "core/net/secret.hpp"

namespace krux::cli {

/// One thread. Tests bring their own.
class Console {
 public:
  virtual ~Console() = default;
  virtual std::ostream& out() = 0;
  virtual std::ostream& err() = 0;

  /// Writes to out() and waits until it is out. Why it could not be written; empty: it was. Also where nobody reads it
  /// any more, which ends the program elsewhere.
  virtual std::string print_at_once(const std::string& text) = 0;

  virtual bool reads_terminal() const = 0;
  virtual bool writes_terminal() const = 0;
  virtual bool colours() const = 0;        ///< of out()
  virtual bool error_colours() const = 0;  ///< of err()
  virtual int width() const = 0;           ///< columns; what does not write to a terminal has no end of line
  virtual int height() const = 0;          ///< lines

  /// One line without its end; on a terminal after the prompt. Nothing at the end of the input.
  virtual std::optional<std::string> read_line(const std::string& prompt) = 0;
  /// The same, not shown while it is typed, and wiped when it goes.
  virtual SecretBytes read_secret(const std::string& prompt) = 0;

  /// Redraws one line of progress on a terminal; nothing elsewhere.
  virtual void progress(const std::string& line) = 0;
  virtual void sleep_ms(int ms) = 0;
  /// A line that is typed, or comes through a pipe, within so long; nothing elsewhere, where it just waits.
  virtual std::optional<std::string> line_within(int ms) = 0;
  /// A key that is pressed within so long, without Enter and not shown; nothing where none is. `on` first, on a
  /// terminal; off again for whatever reads lines.
  virtual void read_keys(bool on) = 0;
  virtual std::optional<char> key_within(int ms) = 0;
  /// False: there is no display, or nothing to open it with.
  virtual bool open_browser(const std::string& address) = 0;
};

/// Standard input and output. Colours only where that stream is a terminal, unless NO_COLOR is set or TERM is "dumb".
Console& system_console();

}  // namespace krux::cli
