// An adapter that ends, floods or tries its process on demand: capabilities and operations say how.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <kruxos/adapter.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "attacks.hpp"
#include "hoards.hpp"

extern char** environ;

namespace {

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

std::string in_quotes(const std::string& text) {
  return "\"" + text + "\"";
}

void wait_for_ever() {
  for (;;) sleep_ms(10);
}

/// Past what would keep the process if it were run.
void leave(bool quick) {
  struct Waiting {
    ~Waiting() { wait_for_ever(); }
  };
  static const Waiting waiting;
  if (std::atexit(wait_for_ever) != 0 || std::at_quick_exit(wait_for_ever) != 0) std::abort();
  quick ? std::quick_exit(3) : std::exit(3);
}

/// Whatever the compiler may think of it.
void crash() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

void hoard() {
  static std::vector<std::unique_ptr<char[]>> kept;
  for (;;) {
    kept.push_back(std::make_unique<char[]>(4 << 20));
    std::memset(kept.back().get(), 1, 4 << 20);
    sleep_ms(5);  // slower than a sanitizer counts
  }
}

/// `hex` to the descriptor that the runner speaks on.
void write_to_host(std::string_view hex) {
  std::string bytes;
  for (; hex.size() >= 2; hex.remove_prefix(2)) {
    bytes += static_cast<char>(std::strtol(std::string(hex.substr(0, 2)).c_str(), nullptr, 16));
  }
  if (write(3, bytes.data(), bytes.size()) < 0) std::abort();
}

std::string tries(const std::string& file) {
  return R"({"tries":)" + attacks::all(file) + R"(,"threads":)" + std::to_string(attacks::threads_to_be_had(2000)) +
         "}";
}

/// Address space that is never touched.
std::string reserve() {
  void* const at = mmap(nullptr, std::size_t{8} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? R"({"reserved":false})" : R"({"reserved":true})";
}

std::string hide() {
  const auto held = attacks::memory_to_be_hidden(600);
  sleep_ms(20'000);
  return "{\"held\":" + std::to_string(held) + "}";
}

/// Has the process go on without its first thread, of which /proc shows what the others hold.
std::string leave() {
  const auto first = getpid();
  struct sigaction end {};
  end.sa_handler = [](int) { syscall(SYS_exit, 0); };
  sigaction(SIGUSR1, &end, nullptr);
  syscall(SYS_tgkill, first, first, SIGUSR1);
  sleep_ms(20'000);
  return "{}";
}

void spin() {
  std::thread([] {
    for (volatile unsigned i = 0;;) i = i + 1;
  }).detach();
}

std::string surroundings() {
  std::string variables, descriptors;
  for (char** at = environ; *at; ++at) variables += std::string(*at).substr(0, std::strcspn(*at, "=")) + " ";
  for (int fd = 0; fd < 256; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) descriptors += std::to_string(fd) + " ";
  }
  return R"({"environment":)" + in_quotes(variables) + R"(,"descriptors":)" + in_quotes(descriptors) +
         R"(,"directory":)" + in_quotes(std::filesystem::current_path().string()) + R"(,"pid":)" +
         std::to_string(getpid()) + "}";
}

class UnrulyAdapter final : public kruxos::SyncAdapter,
                            public kruxos::ReadAdapter,
                            public kruxos::WriteExecutor,
                            public kruxos::RollbackCapable,
                            public kruxos::AccountAdapter {
 public:
  UnrulyAdapter(kruxos::Host host, const kruxos::Account& account) : host_(host) {
    if (account.config_json.find("crash") != std::string::npos) crash();
  }

  static kruxos::Description describe() {
    return {{{"items", 1, kruxos::Order::kTime, true, {}}},
            R"({"type":"object","properties":{"create":{"enum":["crash"]}}})"};
  }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    const auto page = std::strtol(store.cursor("page").value_or("0").c_str(), nullptr, 10);
    for (int i = 0; i < 10; ++i) {
      kruxos::Record record;
      record.collection = "items";
      record.id = std::to_string(page * 10 + i);
      record.json = R"({"id":")" + record.id + "\"}";
      record.text = "item " + record.id;
      record.order_ms = call.now_ms();
      store.put(record);
    }
    host_.http().send(call, get("page/" + std::to_string(page))).or_throw();
    store.set_cursor("page", std::to_string(page + 1));
    store.commit();
    return page + 1 < 5 ? kruxos::SyncStep::more() : kruxos::SyncStep::done();
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
    return full_sync(call, store);
  }

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params) override {
    const std::string what(capability.substr(capability.find('.') + 1));
    if (what == "crash") crash();
    if (what == "abort") std::abort();
    if (what == "exit") std::exit(3);
    if (what == "exit_past_static" || what == "quick_exit") leave(what == "quick_exit");
    if (what == "throw_in_thread") std::thread([] { throw 7; }).join();
    if (what == "hang") {
      host_.log(KRUX_LOG_INFO, "hanging");
      for (;;) sleep_ms(10);
    }
    if (what == "hoard") hoard();
    if (what == "garbage") {
      write_to_host(params);
      for (;;) sleep_ms(10);  // until the host has read it
    }
    if (what == "close") close(3);
    if (what == "print") (void)!write(2, "printed \x1b[2J\n", 13);
    if (what == "wait_for_cancel") {
      host_.log(KRUX_LOG_INFO, "waiting for the end");
      while (!call.cancelled()) sleep_ms(1);
      throw kruxos::ProxyError(kruxos::ErrorKind::kCancelled, "It was cancelled.");
    }
    if (what == "time") return "{\"now\":" + std::to_string(call.now_ms()) + "}";
    if (what == "tries") return tries(std::string(params));
    if (what == "surroundings") return surroundings();
    if (what == "reserve") return reserve();
    if (what == "hide") return hide();
    if (what == "leave") return leave();
    if (what == "spin") spin();
    if (what == "pause") sleep_ms(100);
    if (what == "flood") {
      host_.log(KRUX_LOG_WARN, "flood " + std::string(60'000, '\1'));
      for (int i = 0; i < 3000; ++i) host_.log(KRUX_LOG_WARN, "flood");
    }
    if (what == "threads") return threads();
    if (what == "rows") return rows(reader);
    if (what == "large") return "{\"a\":\"" + std::string(7 << 20, 'x') + "\"}";
    if (what == "body") return body(call);
    if (what == "pid") return "{\"pid\":" + std::to_string(getpid()) + "}";
    return "{}";
  }

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (write.operation == "unruly.crash_before") crash();
    kruxos::HttpRequest request;
    request.method = "POST";
    request.url = "items";
    request.body = write.operation == "unruly.upload" ? std::string(3 << 20, 'y') : std::string(write.params_json);
    const auto result = host_.http().send(call, request);
    if (write.operation == "unruly.crash_after") crash();
    return "{\"status\":" + std::to_string(result.or_throw().status) + "}";
  }
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    const auto answer = host_.http().send(call, get("find/" + std::string(write.write_id))).or_throw();
    return answer.status == 200 ? kruxos::EffectFound::found("{}") : kruxos::EffectFound::absent();
  }

  bool supports_rollback(std::string_view operation) override {
    if (operation == "unruly.crash") crash();
    return operation == "unruly.keep";
  }
  std::string create_rollback_point(const kruxos::Call&, const kruxos::BufferedWrite&) override { return "{}"; }
  std::string rollback(const kruxos::Call&, const kruxos::RollbackRequest&) override { return "{}"; }
  kruxos::EffectFound find_rollback(const kruxos::Call&, const kruxos::RollbackRequest&) override {
    return kruxos::EffectFound::cannot_tell();
  }

  kruxos::Identity verify(const kruxos::Call&) override { return {"U1", "Unruly", std::nullopt, "me"}; }
  void revoke(const kruxos::Call&) override {}

 private:
  static kruxos::HttpRequest get(std::string url) {
    kruxos::HttpRequest request;
    request.method = "GET";
    request.url = std::move(url);
    return request;
  }

  static std::string threads() {
    std::atomic<int> ran{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) all.emplace_back([&ran] { ++ran; });
    for (auto& thread : all) thread.join();
    return "{\"ran\":" + std::to_string(ran) + "}";
  }

  /// Asks for a record within the callback that gets one.
  static std::string rows(const kruxos::Reader& reader) {
    kruxos::Query query;
    query.collection = "items";
    query.limit = 100'000;
    std::size_t count = 0, bytes = 0, nested = 0;
    reader.query(query, [&](const kruxos::Row& row) {
      bytes += row.json.size();
      if (++count % 100 == 1) nested += reader.get("items", std::string(row.id)).has_value();
      return true;
    });
    return "{\"count\":" + std::to_string(count) + ",\"bytes\":" + std::to_string(bytes) +
           ",\"nested\":" + std::to_string(nested) + "}";
  }

  std::string body(const kruxos::Call& call) {
    const auto answer = host_.http().send(call, get("large")).or_throw();
    return "{\"bytes\":" + std::to_string(answer.body.size()) + "}";
  }

  kruxos::Host host_;
};

}  // namespace

KRUXOS_PLUGIN(UnrulyAdapter, "unruly", "unruly", "1.0.0");
