// bench-isolation [CALLS]: what a call costs more when the adapter has a process of its own. The notes adapter over a
// replica of 10,000 notes, one call after the other, in turn in both places.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/report.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/net/http.hpp"
#include "core/replica/replica.hpp"
#include "core/storage/database.hpp"
#include "core/util/clock.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/adapter_runners.hpp"
#include "host/runner/plugin_factory.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr int kNotes = 10'000;

/// A page of 200 notes for every sync step; nothing else is asked for.
class NotesService final : public HttpClient {
 public:
  HttpOutcome send(const CallContextPtr&, const HttpRequest&, HttpSink& sink) override {
    std::string page;
    for (int i = 0; i < 200; ++i) {
      page += fmt::format(R"({}{{"id":"p{}","text":"a note of a page, number {}","marker":"","updated_ms":{}}})",
                          i == 0 ? "{\"notes\":[" : ",", next_, next_, 1'700'000'000'000 + next_);
      ++next_;
    }
    page += "],\"next\":\"more\"}";
    const bool taken = sink.head(200, {{"Content-Type", "application/json"}}) && sink.body(page);
    return taken ? HttpOutcome{} : HttpOutcome{KRUX_CANCELLED, "", std::nullopt};
  }

 private:
  int next_ = 0;
};

/// The adapter in one place, with a replica of its own.
struct Place {
  Place(const std::filesystem::path& plugins, const std::filesystem::path& file, Isolation isolation)
      : registry(PluginRegistry::discover(plugins, {}, {isolation, {}})) {
    const auto* plugin = registry.find("notes");
    if (!plugin) wrong("the notes adapter was refused: " + registry.all().at(0).reason);
    store = std::make_unique<Replica>(file, plugin->collections, clock);
    fill();
    adapter = factory.make({"notes", "T1", 1, std::nullopt, R"({"page_size":200})", std::make_shared<NotesService>()});
  }

  void fill() const {
    auto session = store->begin_session();
    for (int i = 0; i < kNotes; ++i) {
      Record record;
      record.collection = "notes";
      record.id = "n" + std::to_string(i);
      record.json = fmt::format(R"({{"id":"n{}","text":"what stands in note {}, and some more","marker":""}})", i, i);
      record.text = "what stands in note " + std::to_string(i) + ", and some more";
      record.order_ms = 1'600'000'000'000 + i * 1000;
      record.fields = {{"marker", std::string("m")}};
      session->put(std::move(record));
      if (i % 200 == 199) session->commit();
    }
    session->commit();
  }

  CallContextPtr call() const {
    return std::make_shared<CallContext>(CallOwner{"notes", "T1", 1, "", 0}, clock, clock.boot_ms() + 60'000);
  }
  std::string read(const std::string& capability, const std::string& params) const {
    return text_of(adapter->ask<"read">(call(), store->reader(), capability, params));
  }
  std::string resolve(const std::string& params) const {
    return text_of(adapter->ask<"resolve">(call(), store->reader(), "notes.create", params));
  }
  void sync() const {
    auto session = std::shared_ptr<SyncSession>(store->begin_session());
    const auto step = adapter->ask<"full_sync">(call(), session);
    if (!std::holds_alternative<SyncStep>(step)) wrong(std::get<CallFailure>(step).message);
  }
  static std::string text_of(const CallResult<std::string>& result) {
    if (const auto* failure = std::get_if<CallFailure>(&result)) wrong(failure->message);
    return std::get<std::string>(result);
  }

  mutable SystemClock clock;
  CallRunner runner{clock, {}};
  PluginRegistry registry;
  AdapterRunners runners{registry, clock, {}, {}};
  PluginFactory factory{registry, runner, clock, default_adapter_log(), 10'000, &runners};
  std::unique_ptr<Replica> store;
  std::shared_ptr<ServiceAdapter> adapter;
};

template <class Body>
double us_a_call(int calls, Body&& body) {
  const auto start = now_s();
  for (int i = 0; i < calls; ++i) body(i);
  return (now_s() - start) / calls * 1e6;
}

/// Another process that gives each message back: what no call into a process of its own can be quicker than.
class Echo {
 public:
  Echo() {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) != 0) wrong("there is no socket pair");
    child_ = ::fork();
    if (child_ != 0) return;
    ::close(ends_[0]);
    std::array<char, kMessage> message{};
    while (::read(ends_[1], message.data(), kMessage) == kMessage && ::write(ends_[1], message.data(), kMessage) > 0) {
    }
    ::_exit(0);
  }
  ~Echo() {
    for (const int end : ends_) ::close(end);
    ::waitpid(child_, nullptr, 0);
  }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  void there_and_back() const {
    std::array<char, kMessage> message{};
    const bool there = ::write(ends_[0], message.data(), kMessage) == kMessage;
    if (!there || ::read(ends_[0], message.data(), kMessage) != kMessage) wrong("the other process is gone");
  }

 private:
  static constexpr ssize_t kMessage = 100;
  std::array<int, 2> ends_{};
  pid_t child_ = -1;
};

/// A process apart costs a message there and one back, whatever the call is.
void limit_of(const std::string& what, int calls, const Place& here, const std::string& params) {
  const Echo echo;
  Rounds rounds;
  for (int round = 0; round < Rounds::kPairs; ++round) {
    const auto inside = us_a_call(calls, [&](int) { here.resolve(params); });
    rounds.add(us_a_call(calls, [&](int) { echo.there_and_back(); }), inside);
  }
  print_times(what, rounds, "us", 50);
}

template <class Body>
void compare(const std::string& what, int calls, const Place& own, const Place& here, double most, Body&& body) {
  Rounds rounds;
  for (int round = 0; round < Rounds::kPairs; ++round) {
    const auto inside = us_a_call(calls, [&](int i) { body(here, i); });
    rounds.add(us_a_call(calls, [&](int i) { body(own, i); }), inside);
  }
  print_times(what, rounds, "us", most);
  print_figure("  that is more by", rounds.ours() - rounds.baseline(), "us");
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::stoi(argv[1]) : 2'000;
  configure_sqlite();
  const auto directory = scratch_directory();
  const auto plugins = directory / "adapters";
  std::filesystem::create_directory(plugins);
  std::filesystem::copy_file(KRUXOS_BENCH_NOTES, plugins / "notes.so");
  std::filesystem::permissions(plugins, std::filesystem::perms::owner_all);
  std::filesystem::permissions(plugins / "notes.so", std::filesystem::perms(0644));
  const auto canonical = std::filesystem::canonical(plugins);
  const Place here(canonical, directory / "here.db", Isolation::kInProcess);
  const Place own(canonical, directory / "own.db", Isolation::kProcess);
  print_header();
  const std::string one = R"({"note_id":"n77"})", many = R"({"query":"note","limit":20,"offset":0})";
  if (own.read("notes.search", many) != here.read("notes.search", many)) wrong("the answers differ");
  compare("a read of one note", calls, own, here, 100, [&](const Place& p, int) { p.read("notes.read", one); });
  compare("a search that finds 20", calls / 4, own, here, 100,
          [&](const Place& p, int) { p.read("notes.search", many); });
  const std::string note = R"({"text":"x"})";
  compare("a resolve", calls, own, here, 50, [&](const Place& p, int) { p.resolve(note); });
  limit_of("a message to another process and back / a resolve in the host's", calls, here, note);
  compare("a sync step of 200 records", 10, own, here, 100, [&](const Place& p, int) { p.sync(); });
}
