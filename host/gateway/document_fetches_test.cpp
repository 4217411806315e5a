// Documents that come when the test lets them: who waits for them, and who need not.
#include "host/gateway/document_fetches.hpp"

#include <condition_variable>
#include <future>

#include "host/gateway/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace gateway_test;

namespace {

/// Has a good document at each address, once it is let.
struct HeldDocuments {
  TlsIdentity authority = make_authority();
  TlsIdentity identity = make_identity({"DNS:client.test"}, &authority);
  CertificateFile file{authority};
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true, good = true;
  int asked = 0;
  TestServer server{[this](krux::test::Peer& peer, int) {
                      for (auto request = peer.read_request(); !request.empty(); request = peer.read_request())
                        peer.write(answer_to(request));
                    },
                    &identity};

  ~HeldDocuments() { let(true); }
  std::string answer_to(const std::string& request) {
    std::unique_lock lock(mutex);
    ++asked;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    const auto path = request.substr(4, request.find(' ', 4) - 4);
    return answer("{\"client_id\":" + json_string(id(path)) + R"(,"client_name":"A","redirect_uris":[)" +
                      json_string(kBack) + "]}",
                  good ? "200 OK" : "500 Oh", "Content-Type: application/json\r\n");
  }
  void let(bool now_open) {
    const std::lock_guard lock(mutex);
    open = now_open;
    changed.notify_all();
  }
  void await_asked(int times) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked >= times; });
  }
  std::string id(const std::string& path) const {
    return "https://client.test:" + std::to_string(server.port()) + path;
  }
  TransportOptions options() const {
    TransportOptions options;
    options.extra_ca_file = file.path();
    options.allowed_networks = {"127.0.0.1"};
    options.resolve = [](const std::string&) { return Resolution{{*parse_ip("127.0.0.1")}, ""}; };
    return options;
  }
};

/// One that waits for a document.
struct Waiter {
  std::promise<bool> promise;
  std::future<bool> future = promise.get_future();
  DocumentFetches::Fetched fetched() {
    return [this](const DocumentFetches::Outcome& outcome) {
      promise.set_value(std::holds_alternative<SignInClient>(outcome));
    };
  }
};

}  // namespace

TEST_CASE("a document is fetched once at a time, for an address two, and what failed is fetched anew", "[sign_in]") {
  using Begun = DocumentFetches::Begun;
  HeldDocuments held;
  DrivenClock clock;
  ClientDocuments documents(make_http_transport(held.options()), clock);
  std::list<Waiter> waiters;
  DocumentFetches fetches(documents);
  const auto ask = [&](const std::string& path, const std::string& peer) {
    waiters.emplace_back();
    return fetches.fetch(held.id(path), peer, waiters.back().fetched());
  };
  held.let(false);
  CHECK(ask("/a", "192.0.2.1") == Begun::kYes);
  CHECK(ask("/a", "192.0.2.1") == Begun::kYes);
  CHECK(ask("/a", "192.0.2.2") == Begun::kYes);
  CHECK(ask("/b", "192.0.2.1") == Begun::kYes);
  CHECK(ask("/c", "192.0.2.1") == Begun::kTooManyOfPeer);
  waiters.pop_back();
  CHECK(ask("/c", "192.0.2.2") == Begun::kYes);
  CHECK(ask("/c", "192.0.2.1") == Begun::kYes);  // which somebody else has begun
  held.await_asked(3);
  held.let(true);
  for (auto& waiter : waiters) CHECK(waiter.future.get());
  CHECK(held.asked == 3);
  held.good = false;
  for (const bool good : {false, true}) {
    held.good = good;
    CHECK(ask("/d", "192.0.2.1") == Begun::kYes);
    CHECK(waiters.back().future.get() == good);
  }
  CHECK(held.asked == 5);
}

TEST_CASE("as many documents as threads and places may wait, and further ones are refused", "[sign_in]") {
  HeldDocuments held;
  DrivenClock clock;
  ClientDocuments documents(make_http_transport(held.options()), clock);
  std::list<Waiter> waiters;
  DocumentFetches fetches(documents);
  held.let(false);
  const auto ask = [&](std::size_t n) {
    waiters.emplace_back();
    return fetches.fetch(held.id("/" + std::to_string(n)), std::to_string(n), waiters.back().fetched());
  };
  for (int n = 1; n <= DocumentFetches::kThreads; ++n)
    CHECK(ask(static_cast<std::size_t>(n)) == DocumentFetches::Begun::kYes);
  held.await_asked(DocumentFetches::kThreads);
  for (std::size_t n = 0; n < DocumentFetches::kMostQueued; ++n) CHECK(ask(100 + n) == DocumentFetches::Begun::kYes);
  CHECK(ask(200) == DocumentFetches::Begun::kTooMany);
  waiters.pop_back();
  for (std::size_t n = 1; n < DocumentFetches::kMostWaiting; ++n) CHECK(ask(1) == DocumentFetches::Begun::kYes);
  CHECK(ask(1) == DocumentFetches::Begun::kTooMany);
  waiters.pop_back();
  held.let(true);
  for (auto& waiter : waiters) CHECK(waiter.future.get());
  CHECK(ask(200) == DocumentFetches::Begun::kYes);
  CHECK(waiters.back().future.get());
}

TEST_CASE("who names slow documents holds up no client whose document is at hand, and none that has registered",
          "[sign_in]") {
  HeldDocuments held;
  SignInGateway f("", held.options());
  f.client_id = held.id("/known");
  REQUIRE(f.authorize(f.asked()).status == 303);
  held.let(false);
  std::list<RawClient> slow;
  for (const std::string path : {"/slow", "/slow", "/slower"}) {
    auto values = f.asked();
    values["client_id"] = held.id(path);
    slow.emplace_back(f.port).send(http_get("/authorize?" + form_text(values)));
  }
  held.await_asked(3);
  auto values = f.asked();
  values["client_id"] = held.id("/slowest");
  CHECK(f.authorize(values).status == 429);
  CHECK(f.authorize(f.asked()).status == 303);
  f.registered();
  CHECK(f.authorize(f.asked()).status == 303);
  held.let(true);
  for (auto& client : slow) CHECK(client.receive().status == 303);
  CHECK(held.asked == 3);
}

}  // namespace KRUXOS_TEST_FILE
