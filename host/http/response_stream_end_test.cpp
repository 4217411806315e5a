// How answers that come in parts end: by a word, by the client, by a limit, with the server.
#include <future>
#include <vector>

#include "host/http/response_stream_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

TEST_CASE("a client that goes away is noticed while nothing is sent", "[stream]") {
  Streaming served;
  Signal gone, late;
  Stream stream;
  const auto how = GENERATE(0, 1, 2);
  {
    RawClient client(served.port);
    stream = served.open(client);
    stream->when_gone(gone.setter());
    CHECK(stream->send("x"));
    expect(client, "1\r\nx\r\n");
    CHECK(gone.times() == 0);
    how == 0 ? client.close() : how == 1 ? client.reset() : client.end_sending();
    gone.wait();
  }
  CHECK_FALSE(stream->send("y"));
  stream->when_gone(late.setter());
  CHECK(late.times() == 1);
  stream->end();
  while (served.server->connections() > 0) std::this_thread::yield();
  CHECK(gone.times() == 1);
}

TEST_CASE("who has said its last word does not hear that the client has gone", "[stream]") {
  Streaming served;
  Signal gone;
  {
    RawClient client(served.port);
    const auto stream = served.open(client);
    stream->when_gone([stream, gone] { gone.set(); });  // which goes with the end
    stream->end();
    stream->when_gone(gone.setter());
    CHECK(client.receive_chunks().empty());
  }
  while (served.server->connections() > 0) std::this_thread::yield();
  CHECK(gone.times() == 0);
}

TEST_CASE("of a client that does not read no more waits than the limit says, and it is reset", "[stream]") {
  HttpLimits limits;
  limits.unsent_bytes = 2'000;
  Streaming served(limits);
  for (int round = 0; round < 200; ++round) {  // it may come to that while a piece is being written, and while none is
    RawClient client(served.port);
    const auto stream = served.open(client);
    Signal gone;
    stream->when_gone(gone.setter());
    if (round % 2 == 0) {
      std::size_t sent = 0;
      while (stream->send(std::string(900, 'x'))) sent += 900;
      CHECK(sent >= 1'800);
    } else {
      CHECK_FALSE(stream->send(std::string(2'001, 'x')));
    }
    gone.wait();
    CHECK_FALSE(stream->send("x"));
    client.receive_bytes(std::string::npos);
    CHECK(client.was_reset());
  }
  while (served.server->connections() > 0) std::this_thread::yield();
}

TEST_CASE("the last of a stream, which was asked for, may be more than may be unsent", "[stream]") {
  HttpLimits limits;
  limits.unsent_bytes = 2'000;
  Streaming served(limits);
  RawClient client(served.port);
  const auto stream = served.open(client);
  CHECK(stream->send(std::string(1'900, 'x')));
  stream->end_with(std::string(3 << 20, 'y'));
  CHECK_FALSE(stream->send("z"));
  stream->end_with("z");
  bool whole = false;
  CHECK(client.receive_chunks(&whole) == std::string(1'900, 'x') + std::string(3 << 20, 'y'));
  CHECK(whole);
}

TEST_CASE("a client that reads nothing though something waits is closed in time, an idle one is not", "[stream]") {
  HttpLimits limits;
  limits.write_ms = 1'000;
  limits.unsent_bytes = 64 << 20;
  Streaming served(limits);
  RawClient idle(served.port), slow(served.port);
  const auto to_idle = served.open(idle);
  const auto to_slow = served.open(slow);
  Signal gone;
  to_slow->when_gone(gone.setter());
  CHECK(to_slow->send(std::string(32 << 20, 'x')));
  served.until([&] { return gone.times() == 1; });
  CHECK_FALSE(to_slow->send("x"));
  CHECK(to_idle->send("still here"));
  expect(idle, "a\r\nstill here\r\n");
}

TEST_CASE("a client that sends more meanwhile than a header may have is closed", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  const auto stream = served.open(client);
  Signal gone;
  stream->when_gone(gone.setter());
  client.send(std::string(16 << 10, 'x'));
  CHECK(stream->send("a"));
  expect(client, "1\r\na\r\n");
  client.send("x");
  gone.wait();
  CHECK(client.is_closed_by_server());
}

TEST_CASE("streams end when the server stops, and what was sent comes before", "[stream]") {
  Streaming served;
  RawClient idle(served.port), full(served.port), ended(served.port);
  std::vector<Stream> streams;
  std::vector<Signal> gone(3);
  std::size_t at = 0;
  for (auto* client : {&idle, &full, &ended}) {
    streams.push_back(served.open(*client));
    streams.back()->when_gone(gone[at++].setter());
  }
  CHECK(streams[1]->send(std::string(1 << 20, 'x')));
  CHECK(streams[2]->send("all"));
  streams[2]->end();
  std::thread stopping([&] { served.server->stop(20'000); });
  gone[0].wait();
  gone[1].wait();
  CHECK_FALSE(streams[0]->send("x"));
  CHECK(idle.is_closed_by_server());
  CHECK_FALSE(idle.was_reset());
  bool whole = true;
  CHECK(full.receive_chunks(&whole) == std::string(1 << 20, 'x'));
  CHECK_FALSE(whole);
  CHECK(ended.receive_chunks(&whole) == "all");
  CHECK(whole);
  for (auto* client : {&idle, &full, &ended}) client->close();
  stopping.join();
  CHECK(gone[2].times() == 0);
}

TEST_CASE("a stream that begins while the server stops hears of it at once", "[stream]") {
  DrivenClock clock;
  std::promise<Respond> asked;
  HttpServer server(1, HttpServer::Begin::kAtOnce, &clock);
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&](const ServerRequest& request, const Respond& respond) {
                                      request.path == "/stream" ? asked.set_value(respond) : respond(ServerResponse{});
                                    })
                        .port;
  RawClient client(port), idle(port);
  CHECK(idle.ask(http_get("/")).status == 200);
  client.send(http_get("/stream"));
  const auto respond = asked.get_future().get();
  std::thread stopping([&] { server.stop(20'000); });
  CHECK(idle.is_closed_by_server());
  Signal gone;
  ServerResponse response;
  response.stream = [&](const Stream& stream) {
    stream->when_gone([stream, gone] { gone.set(); });
    stream->send("last words");
  };
  respond(response);
  gone.wait();
  CHECK(client.receive().headers.at("Connection") == "close");
  bool whole = true;
  CHECK(client.receive_chunks(&whole) == "last words");
  CHECK_FALSE(whole);
  client.close();
  stopping.join();
}

TEST_CASE("a stream that is let go of is seen to be cut", "[stream]") {
  Streaming served;
  RawClient client(served.port);
  client.send(http_get("/stream"));
  CHECK(client.receive().status == 200);
  Signal gone;
  {
    const auto stream = served.opened->take();
    stream->when_gone(gone.setter());
    CHECK(stream->send("half a"));
  }
  bool whole = true;
  CHECK(client.receive_chunks(&whole) == "half a");
  CHECK_FALSE(whole);
  CHECK(client.is_closed_by_server());
  CHECK_FALSE(client.was_reset());
  CHECK(gone.times() == 0);
}

TEST_CASE("whoever takes a stream and throws has let go of it", "[stream]") {
  HttpServer server;
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&](const ServerRequest&, const Respond& respond) {
                                      ServerResponse response;
                                      response.stream = [](const Stream&) { throw std::runtime_error("on purpose"); };
                                      respond(std::move(response));
                                    })
                        .port;
  RawClient client(port);
  CHECK(client.ask(http_get("/stream")).status == 200);
  CHECK(client.is_closed_by_server());
}

TEST_CASE("sends after everything has gone go nowhere", "[stream]") {
  Stream idle, full;
  std::vector<Signal> gone(2);
  {
    Streaming served;
    RawClient first(served.port), second(served.port);
    idle = served.open(first);
    full = served.open(second);
    idle->when_gone(gone[0].setter());
    full->when_gone(gone[1].setter());
    CHECK(full->send(std::string(1 << 20, 'x')));
    served.server->stop(0);
    CHECK(gone[0].times() == 1);
    CHECK(gone[1].times() == 1);
  }
  for (const auto& stream : {idle, full}) {
    CHECK_FALSE(stream->send("x"));
    Signal late;
    stream->when_gone(late.setter());
    CHECK(late.times() == 1);
    stream->end();
  }
}

}  // namespace KRUXOS_TEST_FILE
