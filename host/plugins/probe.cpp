#include "host/plugins/probe.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/sandbox/confined_child.hpp"
#include "host/sandbox/process_watch.hpp"
#include "host/sandbox/wire.hpp"

namespace krux {
namespace {

constexpr std::size_t kLargestAnswer = 2 << 20;
constexpr std::chrono::milliseconds kWatchEvery{250};

using Time = std::chrono::steady_clock::time_point;

/// The probe's process, until it was reaped.
class Child {
 public:
  Child(ConfinedChild child, std::int64_t memory_mb)
      : pid_(child.pid), socket_(std::move(child.socket)), watch_(child.pid, memory_mb) {}
  ~Child() {
    if (pid_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Nothing: it ended or took too long.
  std::optional<std::vector<std::string>> missing(Time until) {
    auto report = receive_report(socket_->get(), left_ms(until));
    if (!report) return std::nullopt;
    threads_.emplace(std::move(report->threads), pid_);
    return std::move(report->missing);
  }

  /// Everything it writes, until it closes its end; false when the time is over, or it writes or takes too much.
  bool read_all(std::string& text, Time until) {
    for (;;) {
      const auto left = left_ms(until);
      pollfd wait[] = {{socket_->get(), POLLIN, 0}, {threads_ ? threads_->fd() : -1, POLLIN, 0}};
      const auto at_most = std::min<std::int64_t>(left, kWatchEvery.count());
      if (left <= 0 || (poll(wait, 2, static_cast<int>(at_most)) < 0 && errno != EINTR)) return false;
      if (threads_) threads_->serve(wait[1].revents);
      if (takes_too_much()) return false;
      if (wait[0].revents == 0) continue;
      char part[16384];
      const auto got = recv(socket_->get(), part, sizeof(part), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return true;
      text.append(part, static_cast<std::size_t>(got));
      if (text.size() > kLargestAnswer) return false;
    }
  }

  /// Its wait status; nothing when it still runs at `until`.
  std::optional<int> wait(Time until) {
    while (std::chrono::steady_clock::now() < until) {
      if (const auto status = reap(WNOHANG)) return status;
      if (takes_too_much()) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return std::nullopt;
  }
  void end() {
    kill(pid_, SIGKILL);
    reap(0);
  }
  /// As the end of a sentence; empty: nothing.
  const std::string& excess() const { return excess_; }

 private:
  bool takes_too_much() {
    const auto now = std::chrono::steady_clock::now();
    if (now < watch_at_) return false;
    watch_at_ = now + kWatchEvery;
    excess_ = watch_.excess();
    return !excess_.empty();
  }

  std::optional<int> reap(int flags) {
    int status = 0;
    pid_t got = 0;
    do {
      got = waitpid(pid_, &status, flags);
    } while (got < 0 && errno == EINTR);
    if (got == 0) return std::nullopt;
    pid_ = -1;
    return status;
  }

  static std::int64_t left_ms(Time until) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  }

  pid_t pid_ = -1;
  const std::unique_ptr<Descriptor> socket_;
  std::optional<ThreadBudget> threads_;
  ProcessWatch watch_;
  Time watch_at_ = std::chrono::steady_clock::now() + kWatchEvery;
  std::string excess_;
};

ProbeResult refused(std::string problem) {
  return {std::move(problem), {}, {}, {}, {}};
}

ProbeResult read_answer(std::string_view text) {
  const auto answer = parse_json(text, "the probe's answer", {kLargestAnswer, 4});
  if (const auto problem = find_string(answer, "problem")) return refused(std::string(*problem));
  const auto service = find_string(answer, "service"), prefix = find_string(answer, "prefix");
  const auto version = find_string(answer, "version"), description = find_string(answer, "describe");
  const auto minor = find_int(answer, "abi_minor");
  if (!service || !prefix || !version || !description || !minor) return refused("The probe's answer is incomplete.");
  return {{},
          {std::string(*service), std::string(*prefix), std::string(*version), static_cast<std::uint32_t>(*minor)},
          std::string(*description),
          {},
          {}};
}

/// As the rest of a sentence that begins with "It".
std::string how_it_ended(const Child& child, std::optional<int> status, std::int64_t timeout_ms) {
  if (!child.excess().empty()) return fmt::format("was ended while it was loaded: {}.", child.excess());
  if (!status) return fmt::format("did not finish loading within {} seconds.", (timeout_ms + 999) / 1000);
  if (WIFSIGNALED(*status)) return fmt::format("crashed while it was loaded ({}).", strsignal(WTERMSIG(*status)));
  return fmt::format("ended the process that loaded it (exit code {}).", WEXITSTATUS(*status));
}

/// That no adapter could be made refuses nothing: it was made without an account.
TableCheck read_tables(std::string_view line, const std::string& how_it_ended) {
  if (!line.ends_with('\n'))
    return {{}, std::nullopt, "While an adapter was made without an account, it " + how_it_ended};
  return table_check_of(line);
}

}  // namespace

ProbeResult probe_plugin(const std::filesystem::path& file, const ProbeOptions& options) {
  const auto program = options.program.empty() ? find_helper("kruxos-plugin-probe") : options.program;
  if (program.empty()) return refused("kruxos-plugin-probe is missing beside the host; install it again.");
  try {
    Child child(start_confined(program, std::filesystem::absolute(file), options.confinement),
                options.confinement.memory_mb);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.timeout_ms);
    const auto missing = child.missing(until);
    if (options.confinement.required && missing && !missing->empty()) return refused(refusal_of(*missing));
    std::string text;
    const auto ended = child.read_all(text, until) ? child.wait(until) : std::nullopt;  // the destructor ends it
    const auto how = how_it_ended(child, ended, options.timeout_ms);
    const auto first = text.find('\n');
    if (first == std::string::npos) return refused("It " + how);
    auto result = read_answer(std::string_view(text).substr(0, first));
    if (result.problem.empty()) result.tables = read_tables(std::string_view(text).substr(first + 1), how);
    if (missing) result.unconfined = *missing;
    for (const auto& part : result.unconfined)
      spdlog::warn("{} was loaded in a process that was not confined: {}", printable(file.string()), part);
    return result;
  } catch (const std::system_error& e) {
    return refused(fmt::format("It could not be probed: {}.", e.what()));
  } catch (const BadFrame& e) {
    return refused(fmt::format("The probe's answer makes no sense: {}", e.what()));
  } catch (const Error& e) {
    return refused(fmt::format("The probe's answer makes no sense: {}", e.what()));
  }
}

std::filesystem::path find_helper(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const auto& candidate : {self / name, self.parent_path() / "libexec/kruxos" / name}) {
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace krux
