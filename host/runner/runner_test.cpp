// Adapters in processes of their own: what they do to themselves costs their call, and nothing else.
#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <thread>

#include "host/plugins/testdata/runner_rig.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::failed;
using test::FakeSession;
using test::good;
using Rig = test::RunnerRig;
using End = CallRunner::End;

namespace {

AdapterWrite write_of(const std::string& operation) {
  return {"w_1", operation, R"({"x":1})", "", "", 1, 0, 0};
}

bool process_exists(pid_t pid) {
  return kill(pid, 0) == 0;
}

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

}  // namespace

TEST_CASE("an adapter in a process of its own is not loaded into the host") {
  Rig rig;
  const auto* info = rig.registry.find("unruly");
  REQUIRE(info);
  CHECK(info->entry == nullptr);
  CHECK(rig.status().state == RunnerStatus::State::kNotStarted);
  const auto pid = good(rig.read("pid"));
  CHECK(pid == "{\"pid\":" + std::to_string(rig.pid()) + "}");
  CHECK(rig.pid() != getpid());
  CHECK(rig.status().state == RunnerStatus::State::kServing);
}

TEST_CASE("an adapter that ends its process costs its call, and works again in the next one") {
  const std::string what = GENERATE("crash", "abort", "exit", "throw_in_thread", "close");
  Rig rig;
  const auto first = good(rig.read("pid"));
  rig.crash(what);
  CHECK(rig.pid() == 0);
  CHECK_FALSE(rig.status().last_end.empty());
  rig.wait_out();
  CHECK(good(rig.read("pid")) != first);
  CHECK(rig.status().restarts == 1);
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer's own memory passes every limit, so that none is set beneath it
TEST_CASE("an adapter that takes too much memory loses its process") {
  Rig rig({160, 64});
  rig.crash("hoard");
  rig.wait_out();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}
#endif

TEST_CASE("calls in flight fail when the process is killed, and others are refused until it may start again") {
  Rig rig;
  rig.made();
  const auto pid = rig.pid();
  std::vector<std::future<CallResult<std::string>>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return rig.read("hang"); }));
    while (!rig.take_logged("hanging")) std::this_thread::yield();
  }
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");  // beside those that hang
  REQUIRE(kill(pid, SIGKILL) == 0);
  for (auto& result : waiting) CHECK(failed(result.get()).status == KRUX_INTERNAL);
  CHECK_FALSE(process_exists(pid));

  const auto refused = failed(rig.read("pid"));
  CHECK(refused.status == KRUX_UNAVAILABLE);
  CHECK(refused.effect_none);
  CHECK(refused.retry_after_ms == 1000);
  CHECK_THAT(refused.message, Catch::Contains("Killed"));
  const auto write = failed(rig.made()->ask<"execute_write">(rig.call(1000, "w_1"), write_of("unruly.send")));
  CHECK((write.status == KRUX_UNAVAILABLE && write.effect_none && !write.retry_after_ms));
  rig.clock.advance(1000);
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("it is started again after 1 s, doubling to 60 s, and after a good minute from the beginning") {
  Rig rig;
  const auto wait_after_crash = [&] {
    rig.crash("abort");
    return failed(rig.read("pid")).retry_after_ms.value();
  };
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 8; ++i) {
    waits.push_back(wait_after_crash());
    rig.clock.advance(waits.back());
  }
  CHECK(waits == std::vector<std::int64_t>{1000, 2000, 4000, 8000, 16'000, 32'000, 60'000, 60'000});
  good(rig.read("pid"));
  rig.clock.advance(60'000);
  CHECK(wait_after_crash() == 1000);
}

TEST_CASE("three ends within ten minutes are told, and settled when it has worked for a minute") {
  Rig rig;
  rig.crash("abort");
  rig.clock.advance(660'000);  // that one is forgotten
  for (int i = 0; i < 2; ++i) {
    rig.crash("abort");
    rig.wait_out();
  }
  CHECK(rig.alerts().empty());
  rig.crash("abort");
  REQUIRE(rig.alerts().size() == 1);
  CHECK_THAT(rig.alerts()[0], Catch::StartsWith("adapter_crashing: ") && Catch::Contains("unruly"));
  rig.wait_out();
  good(rig.read("pid"));
  CHECK(rig.settled.empty());
  rig.clock.advance(60'000);
  good(rig.read("pid"));
  CHECK(rig.settled == std::vector<std::string>{"adapter_crashing", "adapter_garbage"});
}

TEST_CASE("garbage ends the process, with a word to the operator") {
  std::string bytes;
  SECTION("no frame at all") {
    bytes = "GET / HTTP/1.1\\r\\n\\r\\n{}{}{}{}{}";
  }
  SECTION("a frame that goes the wrong way") {
    bytes = frame_bytes(FrameKind::kCall, 1, 1, "x");
  }
  SECTION("a second hello") {
    bytes = frame_bytes(FrameKind::kHello, 0, 0, "");
  }
  SECTION("a call that never was") {
    bytes = frame_bytes(FrameKind::kReturned, 999'999, 0, "x");
  }
  SECTION("a request of no kind") {
    bytes = frame_bytes(FrameKind::kRequest, 3, 1, "\x7f");
  }
  SECTION("a request without its values") {
    bytes = frame_bytes(FrameKind::kRequest, 3, 1, std::string(1, '\1'));
  }
  SECTION("a write into the replica of a read") {
    bytes = frame_bytes(FrameKind::kRequest, 3, 1, "\x09");
  }
  SECTION("a result that is none") {
    bytes = frame_bytes(FrameKind::kReturned, 3, 0, "\1\2\3");
  }
  SECTION("a result that is no JSON") {
    WireWriter out;
    out.u64(0).flag(true).text("{oops");
    bytes = frame_bytes(FrameKind::kReturned, 3, 0, out.bytes());
  }
  SECTION("a log line of no level") {
    bytes = frame_bytes(FrameKind::kLog, 0, 0, "\x09");
  }
  Rig rig;
  rig.made();  // ids rise by one: the adapter is 1, creating it was 2, and the call that follows is 3
  const auto failure = failed(rig.read("garbage", hex(bytes)));
  CHECK(failure.status == KRUX_INTERNAL);
  while (rig.alerts().empty()) std::this_thread::yield();
  CHECK_THAT(rig.alerts()[0], Catch::StartsWith("adapter_garbage: ") && Catch::Contains("makes no sense"));
  while (rig.pid() != 0) std::this_thread::yield();
  rig.wait_out();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("a call that hangs past its deadline frees its thread: the process is killed") {
  Rig rig;
  const auto health = std::make_shared<AdapterHealth>();
  rig.made();
  const auto pid = rig.pid();
  const auto abandon = [&] {
    const auto call = rig.call(1000);
    const auto returned = std::make_shared<std::promise<void>>();
    auto end = std::async(std::launch::async, [&] {
      return rig.runner.run(call, health, [adapter = rig.made(), call, returned, reader = rig.reader] {
        adapter->ask<"read">(call, reader, "unruly.hang", "{}");
        returned->set_value();
      });
    });
    while (!rig.take_logged("hanging")) std::this_thread::yield();
    rig.clock.advance(1250);
    CHECK(end.get() == End::kAbandoned);
    rig.clock.advance(750);
    returned->get_future().wait();
  };
  abandon();
  CHECK_FALSE(process_exists(pid));
  CHECK_THAT(rig.status().last_end, Catch::Contains("did not return in time"));
  while (rig.runner.lost() > 0) std::this_thread::yield();

  // What is refused while it waits to be started says nothing of the adapter's health, and does not count as a return.
  const auto refused = rig.call(100);
  rig.runner.run(refused, health,
                 [&] { CHECK(failed(rig.made()->ask<"read">(refused, rig.reader, "unruly.pid", "{}")).effect_none); });
  CHECK_FALSE(health->quarantined());
  rig.wait_out();
  abandon();
  CHECK(health->quarantined());
}

TEST_CASE("a pause of the host that is longer than its calls' deadlines condemns no adapter") {
  Rig rig;
  const auto health = std::make_shared<AdapterHealth>();
  const auto adapter = rig.made();
  const auto pid = rig.pid();
  std::vector<std::future<End>> ends;
  for (int i = 0; i < 2; ++i) {
    ends.push_back(std::async(std::launch::async, [&] {
      const auto call = rig.call(1000);
      return rig.runner.run(call, health, [adapter, call, reader = rig.reader] {
        adapter->ask<"read">(call, reader, "unruly.wait_for_cancel", "{}");
      });
    }));
  }
  const auto both_wait = [&] {
    const std::lock_guard lock(rig.mutex);
    return std::count(rig.log.begin(), rig.log.end(), "waiting for the end") == 2;
  };
  while (!both_wait()) std::this_thread::yield();
  rig.clock.advance(3'600'000);
  for (auto& end : ends) CHECK(end.get() == End::kReturned);
  CHECK_FALSE(health->quarantined());
  CHECK(rig.pid() == pid);
  CHECK(good(rig.read("pid")) == "{\"pid\":" + std::to_string(pid) + "}");
}

TEST_CASE("a call that is cancelled hears of it") {
  Rig rig;
  const auto call = rig.call();
  rig.made();
  std::thread canceller([&] { call->cancel(); });
  const auto failure = failed(rig.made()->ask<"read">(call, rig.reader, "unruly.wait_for_cancel", "{}"));
  canceller.join();
  CHECK(failure.status == KRUX_CANCELLED);
  const auto late = rig.call(0);  // its time is over before it begins
  CHECK(failed(rig.made()->ask<"read">(late, rig.reader, "unruly.wait_for_cancel", "{}")).status == KRUX_CANCELLED);
}

TEST_CASE("the host's clock is the adapter's") {
  Rig rig;
  CHECK(good(rig.read("time")) == "{\"now\":" + std::to_string(rig.clock.wall_ms()) + "}");
  rig.clock.advance(3'600'000);
  CHECK(good(rig.read("time")) == "{\"now\":" + std::to_string(rig.clock.wall_ms()) + "}");
}

TEST_CASE("a crash in a write is judged by what the host has sent") {
  Rig rig;
  const auto before = rig.call(60'000, "w_1");
  auto failure = failed(rig.made()->ask<"execute_write">(before, write_of("unruly.crash_before")));
  const auto unsent = judge(failure, before->end());
  CHECK(unsent.effect_none);
  CHECK(rig.http->requests().empty());
  rig.wait_out();

  rig.http->lose_answers = true;
  const auto after = rig.call(60'000, "w_1");
  failure = failed(rig.made()->ask<"execute_write">(after, write_of("unruly.crash_after")));
  const auto sent = judge(failure, after->end());
  CHECK_FALSE(sent.effect_none);
  CHECK(rig.http->requests().size() == 1);
  CHECK_FALSE(after->begin_unsafe_request());
}

TEST_CASE("a write gets its rollback point, or does not begin") {
  Rig rig;
  const auto supports = [&](const char* operation) {
    return rig.made()->ask<"supports_rollback">(rig.call(60'000, "w_1"), operation);
  };
  CHECK(good(supports("unruly.keep")));
  CHECK_FALSE(good(supports("unruly.send")));
  CHECK(good(rig.made()->ask<"create_rollback_point">(rig.call(60'000, "w_1"), write_of("unruly.keep"))) == "{}");
  CHECK(failed(supports("unruly.crash")).status == KRUX_INTERNAL);
  for (const auto& refused :
       {failed(supports("unruly.keep")),
        failed(rig.made()->ask<"create_rollback_point">(rig.call(60'000, "w_1"), write_of("unruly.keep")))}) {
    CHECK((refused.status == KRUX_UNAVAILABLE && refused.effect_none && !refused.retry_after_ms));
  }
}

TEST_CASE("a sync whose process is killed resumes where it was") {
  Rig rig;
  const auto session = std::make_shared<FakeSession>();
  std::atomic<int> kill_at{2};
  rig.http->answer = [&](const HttpRequest& request) {
    if (request.url == "page/" + std::to_string(kill_at)) kill(rig.pid(), SIGKILL);
    return std::pair(200, std::string("ok"));
  };
  const auto step = [&] {
    session->put_records.clear();  // a session lives for a step
    return rig.made()->ask<"full_sync">(rig.call(), session);
  };
  CHECK(good(step()).next == SyncStep::Next::kMore);
  CHECK(good(step()).next == SyncStep::Next::kMore);
  CHECK(failed(step()).status == KRUX_INTERNAL);
  CHECK(session->committed.size() == 20);
  CHECK(session->cursor("page") == "2");
  kill_at = -1;
  rig.wait_out();
  int steps = 0;
  for (auto next = SyncStep::Next::kMore; next == SyncStep::Next::kMore; ++steps) next = good(step()).next;
  CHECK(steps == 3);
  CHECK(session->committed.size() == 50);
}

TEST_CASE("many rows, large results and large bodies pass in parts") {
  Rig rig;
  for (int i = 0; i < 20'000; ++i) {
    rig.reader->rows.emplace_back(std::to_string(i), R"({"text":")" + std::string(60, 'r') + "\"}");
  }
  CHECK(good(rig.read("rows")) == R"({"count":20000,"bytes":1420000,"nested":200})");
  CHECK(good(rig.read("large")).size() > (7u << 20));
  CHECK(good(rig.read("body")) == R"({"bytes":3145728})");
  CHECK(good(rig.made()->ask<"execute_write">(rig.call(60'000, "w_1"), write_of("unruly.upload"))) ==
        R"({"status":200})");
  CHECK(rig.http->requests().back().body == std::string(3 << 20, 'y'));
}

TEST_CASE("many calls run at once in one process") {
  Rig rig;
  rig.made();
  std::vector<std::thread> callers;
  std::atomic<int> went_well{0};
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&rig, &went_well, t] {
      for (int i = 0; i < 20; ++i) {
        const auto reader = std::make_shared<test::FakeReader>();
        reader->rows = {{"a", "{}"}};
        const auto call = rig.call(60'000, "w_1");
        const bool fine =
            t % 2 == 0 ? good(rig.made()->ask<"execute_write">(call, write_of("unruly.send"))) == R"({"status":200})"
                       : good(rig.made()->ask<"read">(call, reader, "unruly.rows", "{}")) ==
                             R"({"count":1,"bytes":2,"nested":1})";
        went_well += fine;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(went_well == 120);
}

TEST_CASE("an adapter's process inherits nothing of the host") {
  setenv("KRUXOS_SECRET", "1", 1);
  Rig rig;
  const auto seen = good(rig.read("surroundings"));
  INFO(seen);
  CHECK(seen.find("KRUXOS_SECRET") == std::string::npos);
  CHECK(seen.find("PATH ") == std::string::npos);
  CHECK_THAT(seen, Catch::Contains(R"("directory":"/")"));
  // Standard streams, the socket, and what wakes its reader.
  CHECK_THAT(seen, Catch::Contains(R"("descriptors":"0 1 2 3 4 ")"));
  unsetenv("KRUXOS_SECRET");
}

TEST_CASE("what it prints is in the log, and is harmless there") {
  Rig rig;
  good(rig.read("print"));
  while (!rig.take_logged("printed \\x1b[2J")) std::this_thread::yield();
}

TEST_CASE("an adapter that crashes while it is made is refused with a reason") {
  Rig rig;
  rig.made();
  CHECK_THROWS_WITH(rig.factory->make({"unruly", "T2", 1, std::nullopt, R"({"create":"crash"})", rig.http}),
                    Catch::Contains("could not be started") && Catch::Contains("process ended"));
  rig.wait_out();
  CHECK(good(rig.read("threads")) == "{\"ran\":8}");
}

TEST_CASE("a file that was replaced is not run") {
  const test::PluginDir dir;
  const auto file = dir.add("unruly_adapter");
  const auto registry = PluginRegistry::discover(dir.path(), test::options(), {Isolation::kProcess, {}});
  std::filesystem::remove(file);
  dir.copy(KRUXOS_NOTES_PLUGIN, "unruly_adapter");
  SystemClock clock;
  AdapterRunners runners(registry, clock, {KRUXOS_PLUGIN_RUNNER, {}, default_adapter_log(), 30'000}, {});
  const auto call = std::make_shared<CallContext>(CallOwner{"unruly", "", 0, "", 0}, clock, clock.boot_ms() + 30'000);
  const auto refused = runners.find("unruly")->acquire(call);
  REQUIRE(std::holds_alternative<CallFailure>(refused));
  CHECK_THAT(std::get<CallFailure>(refused).message, Catch::Contains("not the one that was examined"));
}

TEST_CASE("a runner that cannot be started, or never says hello, is a reason as well") {
  Rig rig;
  const std::string program = GENERATE("/nonexistent/runner", "/bin/true", "/bin/cat");
  AdapterRunners runners(rig.registry, rig.clock, {program, {}, rig.keep_log, 200}, {});
  const auto refused = runners.find("unruly")->acquire(rig.call());
  REQUIRE(std::holds_alternative<CallFailure>(refused));
  CHECK_FALSE(std::get<CallFailure>(refused).message.empty());
}

TEST_CASE("stopping ends every process, calls included, and takes no new call") {
  Rig rig;
  rig.made();
  const auto pid = rig.pid();
  auto hanging = std::async(std::launch::async, [&] { return rig.read("hang"); });
  good(rig.read("threads"));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(rig.runners->stop(100));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
  CHECK_FALSE(process_exists(pid));
  CHECK(failed(hanging.get()).status != KRUX_OK);
  CHECK(failed(rig.read("pid")).status == KRUX_UNAVAILABLE);
  CHECK(rig.alerts().empty());
}

}  // namespace KRUXOS_TEST_FILE
