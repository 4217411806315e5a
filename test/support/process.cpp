#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace krux::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Fd {
 public:
  Fd() = default;
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void set(int fd) { fd_ = fd; }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

void make_pipe(Fd& read_end, Fd& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  read_end.set(ends[0]);
  write_end.set(ends[1]);
}

std::vector<std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> merged;
  for (char** entry = command.inherit_env ? environ : nullptr; entry && *entry; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : command.env) merged[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : merged) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// What the child does between fork and exec: nothing that allocates. On failure the reason goes up `report`.
struct Launch {
  char* const* argv;
  char* const* env;
  const char* directory;  // null: stay
  int in, out, err, report;
  pid_t parent;
  bool die_with_parent;

  [[noreturn]] void run() const {
    bool ready = dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0;
    if (die_with_parent) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(127);
    }
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (ready && directory) ready = chdir(directory) == 0;
    if (ready) execvpe(argv[0], argv, env);
    const int reason = errno;
    if (::write(report, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
  }
};

}  // namespace

struct Process::Impl {
  struct Output {
    Fd fd;
    std::string text;
    std::size_t searched = 0;  // wait_for_line() goes on here
    bool ended = false;
  };

  pid_t pid = -1;
  Fd in;
  std::array<Output, 2> outputs;
  Fd wake_read, wake_write;  // ends the reader before the pipes' ends do
  std::thread reader;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<ExitStatus> status;

  Output& of(Stream stream) { return outputs[stream == Stream::out ? 0 : 1]; }

  void start(const Command& command);
  void read_all();
  bool read_one(Output& output);
  bool reap(int flags);
  std::optional<std::string> next_line(Output& output, std::string_view part);
};

bool Process::Impl::read_one(Output& output) {
  char bytes[16384];
  const ssize_t size = ::read(output.fd.get(), bytes, sizeof bytes);
  if (size < 0 && errno == EINTR) return true;
  std::lock_guard lock(mutex);
  if (size > 0)
    output.text.append(bytes, static_cast<std::size_t>(size));
  else
    output.ended = true;
  changed.notify_all();
  return size > 0;
}

void Process::Impl::read_all() {
  std::array<bool, 2> open{true, true};
  while (open[0] || open[1]) {
    pollfd fds[3] = {{open[0] ? outputs[0].fd.get() : -1, POLLIN, 0},
                     {open[1] ? outputs[1].fd.get() : -1, POLLIN, 0},
                     {wake_read.get(), POLLIN, 0}};
    if (poll(fds, 3, -1) < 0 && errno != EINTR) return;
    if (fds[2].revents) return;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents) open[i] = read_one(outputs[i]);
    }
  }
}

// With the lock held. True: the child has ended and its status is known.
bool Process::Impl::reap(int flags) {
  if (status) return true;
  int raw = 0;
  pid_t reaped;
  do reaped = waitpid(pid, &raw, flags);
  while (reaped < 0 && errno == EINTR);
  if (reaped != pid) return false;
  status.emplace();
  if (WIFEXITED(raw)) status->code = WEXITSTATUS(raw);
  if (WIFSIGNALED(raw)) status->signal = WTERMSIG(raw);
  return true;
}

std::optional<std::string> Process::Impl::next_line(Output& output, std::string_view part) {
  for (;;) {
    const std::size_t end = output.text.find('\n', output.searched);
    if (end == std::string::npos && (!output.ended || output.searched >= output.text.size())) return std::nullopt;
    const std::size_t stop = end == std::string::npos ? output.text.size() : end;
    std::string line = output.text.substr(output.searched, stop - output.searched);
    output.searched = end == std::string::npos ? stop : stop + 1;
    if (line.find(part) != std::string::npos) return line;
  }
}

void Process::Impl::start(const Command& command) {
  Fd child_in, child_out, child_err, report_read, report_write;
  make_pipe(child_in, in);
  make_pipe(outputs[0].fd, child_out);
  make_pipe(outputs[1].fd, child_err);
  make_pipe(report_read, report_write);
  make_pipe(wake_read, wake_write);
  std::vector<std::string> argv = command.argv, environment = environment_of(command);
  const std::vector<char*> argv_pointers = pointers(argv), environment_pointers = pointers(environment);
  const char* directory = command.working_directory.empty() ? nullptr : command.working_directory.c_str();
  const Launch launch{
      argv_pointers.data(), environment_pointers.data(), directory, child_in.get(),         child_out.get(),
      child_err.get(),      report_write.get(),          getpid(),  command.die_with_parent};
  pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) launch.run();
  report_write.close();
  int reason = 0;
  ssize_t reported;
  do reported = ::read(report_read.get(), &reason, sizeof reason);
  while (reported < 0 && errno == EINTR);
  if (reported != sizeof reason) return;
  reap(0);
  throw std::system_error(reason, std::generic_category(), "cannot start " + command.argv[0]);
}

Process::Process(const Command& command) : impl_(std::make_unique<Impl>()) {
  if (command.argv.empty()) throw std::invalid_argument("a command needs a program to start");
  impl_->start(command);
  impl_->reader = std::thread([impl = impl_.get()] { impl->read_all(); });
  if (!command.stdin_text) return;
  write_stdin(*command.stdin_text);
  close_stdin();
}

Process::~Process() {
  signal(SIGKILL);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->reap(0);
  }
  impl_->wake_write.close();
  if (impl_->reader.joinable()) impl_->reader.join();
}

pid_t Process::pid() const {
  return impl_->pid;
}

std::optional<std::string> Process::wait_for_line(std::string_view part, milliseconds timeout, Stream stream) {
  const auto deadline = Clock::now() + timeout;
  std::unique_lock lock(impl_->mutex);
  Impl::Output& output = impl_->of(stream);
  for (;;) {
    if (auto line = impl_->next_line(output, part)) return line;
    if (output.ended) return std::nullopt;
    if (impl_->changed.wait_until(lock, deadline) == std::cv_status::timeout) return impl_->next_line(output, part);
  }
}

std::string Process::output(Stream stream) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->of(stream).text;
}

bool Process::write_stdin(std::string_view bytes) {
  sigset_t pipe_signal, before;  // a child that has closed its end must not kill the test
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  bool written = true;
  while (written && !bytes.empty()) {
    const ssize_t size = ::write(impl_->in.get(), bytes.data(), bytes.size());
    if (size > 0)
      bytes.remove_prefix(static_cast<std::size_t>(size));
    else if (errno != EINTR)
      written = false;
  }
  const timespec no_wait{};
  if (!written) sigtimedwait(&pipe_signal, nullptr, &no_wait);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

void Process::close_stdin() {
  impl_->in.close();
}

void Process::signal(int number) {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->reap(WNOHANG)) kill(impl_->pid, number);
}

bool Process::running() {
  std::lock_guard lock(impl_->mutex);
  return !impl_->reap(WNOHANG);
}

std::optional<ExitStatus> Process::wait(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::unique_lock lock(impl_->mutex);
  while (!impl_->reap(WNOHANG)) {
    if (Clock::now() >= deadline) return std::nullopt;
    impl_->changed.wait_for(lock, milliseconds(2));
  }
  // A grandchild may hold the pipes open for ever: what the child itself wrote is there after a moment.
  const auto drained = [&] { return impl_->outputs[0].ended && impl_->outputs[1].ended; };
  impl_->changed.wait_for(lock, milliseconds(500), drained);
  return impl_->status;
}

ExitStatus Process::stop(milliseconds timeout) {
  signal(SIGTERM);
  if (auto status = wait(timeout)) return *status;
  signal(SIGKILL);
  return wait().value_or(ExitStatus{});
}

Finished run(const Command& command, milliseconds timeout) {
  Process process(command);
  const auto status = process.wait(timeout);
  if (!status) {
    throw std::runtime_error(command.argv[0] + " did not end in time; it printed:\n" + process.output() +
                             process.output(Stream::err));
  }
  return {*status, process.output(), process.output(Stream::err)};
}

}  // namespace krux::test
