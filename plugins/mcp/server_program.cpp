#include "server_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "confined/usage.hpp"
#include "messages.hpp"
#include "stdio_link.hpp"

namespace mcp {
namespace {

using confined::Clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook{100}, kToEnd{1'000};
constexpr std::size_t kPiece = 65'536;
constexpr int kPiecesAtOnce = 16;  ///< so that what is to be written has its turn

/// Takes what has come, up to `pieces` of it. False at the end.
bool take(int fd, int pieces, const std::function<void(std::string_view)>& each) {
  std::array<char, kPiece> piece{};
  for (int i = 0; i < pieces; ++i) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    each({piece.data(), static_cast<std::size_t>(got)});
  }
  return true;
}

}  // namespace

ServerProgram::ServerProgram(const StdioOptions& options)
    : confinement_(options.confinement), lines_(kLongestMessage), looks_(kLook) {
  auto input = confined::make_pipe();
  started_ = confined::start(confinement_, input.read.get(), confined::kHome, options.command);
  input_ = std::move(input.write);
  confined::never_wait_for(input_);
}

ServerProgram::~ServerProgram() {
  if (exit_code_ >= 0) return;
  kill();
  while (waitpid(started_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ServerProgram::wait(int wake, bool writes) {
  // What is closed would be ready for ever: nobody looks at it.
  const auto if_open = [](bool open, const confined::Descriptor& at) { return open ? at.get() : -1; };
  std::array<pollfd, 5> all{{{wake, POLLIN, 0},
                             {started_.ended.get(), POLLIN, 0},
                             {if_open(out_open_, started_.out), POLLIN, 0},
                             {if_open(errors_open_, started_.errors), POLLIN, 0},
                             {if_open(writes, input_), POLLOUT, 0}}};
  const auto most = std::chrono::ceil<milliseconds>(looks_.until_due(Clock::now()));
  (void)poll(all.data(), all.size(), static_cast<int>(most.count()));
}

std::size_t ServerProgram::put(std::string_view bytes) {
  if (!input_) return 0;
  const auto put = write(input_.get(), bytes.data(), std::min(bytes.size(), kPiece));
  if (put < 0 && errno != EAGAIN && errno != EINTR) let_end();  // it reads no more, and will soon have ended
  return static_cast<std::size_t>(std::max<ssize_t>(put, 0));
}

void ServerProgram::read(const std::function<void(std::string_view)>& each) {
  if (errors_open_)
    errors_open_ = take(started_.errors.get(), kPiecesAtOnce, [&](std::string_view piece) { said_.add(piece); });
  if (!out_open_) return;
  out_open_ = take(started_.out.get(), kPiecesAtOnce, [&](std::string_view piece) {
    if (why_.empty() && !lines_.add(piece, each)) end_because("it wrote a line of more than 8 MiB.");
  });
  if (!out_open_) let_end();  // nothing will be answered any more
}

void ServerProgram::look() {
  const auto now = Clock::now();
  if (!looks_.is_due(now)) return;
  if (kill_at_ && now >= *kill_at_) return kill();
  if (why_.empty()) hold_to_limits();
}

void ServerProgram::hold_to_limits() {
  const auto usage = confined::ProcessTable().below(started_.pid, 0);
  if (usage.processes > confinement_.processes + confined::kOwnProcesses)
    end_because("it has more than " + std::to_string(confinement_.processes) + " processes.");
  if (usage.bytes > confinement_.memory_mib << 20)
    end_because("it uses more than " + std::to_string(confinement_.memory_mib) + " MiB of memory.");
}

void ServerProgram::let_end() {
  input_ = confined::Descriptor();
  if (!kill_at_) kill_at_ = Clock::now() + kToEnd;
}

void ServerProgram::end_because(const std::string& why) {
  if (why_.empty()) why_ = why;
  kill();
}

/// All that it has started is in the sandbox, and dies with its first process.
void ServerProgram::kill() {
  if (exit_code_ >= 0) return;  // its number may be another's by now
  ::kill(started_.pid, SIGKILL);
}

bool ServerProgram::has_ended() {
  if (exit_code_ < 0) exit_code_ = confined::exit_code_of(started_.pid);
  if (exit_code_ < 0) return false;
  // What it has said last is there now, or nowhere.
  pollfd rest{started_.out.get(), POLLIN, 0};
  return !out_open_ || poll(&rest, 1, 0) != 1;
}

std::string ServerProgram::sentence() const {
  if (!why_.empty()) return "The server's program was ended: " + why_;
  const auto last = said_.text();
  return "The server's program has ended (exit code " + std::to_string(exit_code_) + ")" +
         (last.empty() ? "." : ": " + last);
}

}  // namespace mcp
