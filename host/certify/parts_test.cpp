#include <catch2/catch.hpp>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "host/certify/child_process.hpp"
#include "host/certify/fault_transport.hpp"
#include "host/certify/outputs.hpp"
#include "host/certify/service_requests.hpp"
#include "host/certify/spoiled_body.hpp"
#include "host/certify/static_checks.hpp"
#include "host/certify/worker.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::certify;
using Catch::Contains;

namespace {

/// A service that answers everything alike.
class OneAnswer final : public HttpTransport {
 public:
  HttpOutcome send(const CallContextPtr&, const Url&, const HttpRequest&, const RequestSecret&,
                   HttpSink& sink) override {
    ++delivered;
    sink.head(200, {{"Content-Length", "21"}, {"X-One", "1"}});
    sink.body(R"({"id":"a","list":[1]})");
    return {};
  }
  void stop() override {}
  int delivered = 0;
};

struct Wire {
  SystemClock clock;
  std::shared_ptr<OneAnswer> inner = std::make_shared<OneAnswer>();
  FaultTransport transport{inner, "secret-token"};
  CallContextPtr call =
      std::make_shared<CallContext>(CallOwner{"notes", "A1", 1, "w_1", 1}, clock, clock.boot_ms() + 200);
  HttpResponse answer;

  HttpOutcome send(Fault fault, const std::string& url = "http://127.0.0.1:1/x") {
    transport.arm({fault, 1, 1});
    answer = {};
    HttpRequest request;
    request.method = "POST";
    request.max_response_bytes = 1 << 20;
    return transport.send(call, parse_url(url), request, "", answer);
  }
};

}  // namespace

TEST_CASE("Faults that keep a request from the service do so, the others deliver it") {
  for (const auto fault : {Fault::kNotSent, Fault::kHang, Fault::kRateLimited, Fault::kServerError, Fault::kUnavailable,
                           Fault::kTokenRefused}) {
    Wire wire;
    wire.send(fault);
    CHECK(wire.inner->delivered == 0);
    CHECK_FALSE(wire.transport.seen().front().delivered);
  }
  for (const auto fault :
       {Fault::kNone, Fault::kAnswerLost, Fault::kHangAfter, Fault::kCutOff, Fault::kBadGateway, Fault::kTruncated,
        Fault::kNotJson, Fault::kWrongTypes, Fault::kWrongInside, Fault::kEmpty, Fault::kHuge, Fault::kSlow}) {
    Wire wire;
    wire.send(fault);
    CHECK(wire.inner->delivered == 1);
    CHECK(wire.transport.seen().front().delivered);
  }
}

TEST_CASE("Each fault shows the adapter what it should") {
  Wire wire;
  CHECK(wire.send(Fault::kNone).status == KRUX_OK);
  CHECK(wire.answer.text == R"({"id":"a","list":[1]})");
  CHECK(wire.send(Fault::kAnswerLost).status == KRUX_NETWORK);
  CHECK(wire.answer.status == 0);
  CHECK(wire.send(Fault::kCutOff).status == KRUX_NETWORK);
  CHECK(wire.answer.text.size() == 10);
  CHECK(wire.send(Fault::kTruncated).status == KRUX_OK);
  CHECK(wire.answer.text.size() == 10);
  CHECK_FALSE(find_header(wire.answer.headers, "Content-Length"));
  CHECK(wire.send(Fault::kRateLimited).status == KRUX_OK);
  CHECK(wire.answer.status == 429);
  CHECK(find_header(wire.answer.headers, "Retry-After") == "7");
  wire.send(Fault::kServerError);
  CHECK(wire.answer.status == 500);
  CHECK_THAT(wire.answer.text, Contains("secret-token"));
  wire.send(Fault::kBadGateway);
  CHECK(wire.answer.status == 502);
  wire.send(Fault::kWrongInside);
  CHECK(wire.answer.text == R"({"id":"a","list":[7]})");
  CHECK(wire.send(Fault::kSlow).status == KRUX_OK);
  CHECK(wire.answer.text == R"({"id":"a","list":[1]})");
  CHECK(wire.send(Fault::kHuge).status == KRUX_UNAVAILABLE);
  CHECK(wire.answer.text.size() > (1 << 20));
  CHECK(wire.send(Fault::kHangAfter).status == KRUX_TIMEOUT);
}

TEST_CASE("A hanging request ends with its call, and nothing leaves the loopback") {
  Wire wire;
  wire.transport.arm({Fault::kHang, 1, 0});
  wire.transport.on_hang([call = wire.call] { call->cancel(); });
  CHECK(wire.transport.send(wire.call, parse_url("http://127.0.0.1:1/"), {}, "", wire.answer).status == KRUX_CANCELLED);
  Wire other;
  CHECK(other.send(Fault::kNone, "https://notes.example/").status == KRUX_NETWORK);
  CHECK(other.inner->delivered == 0);
}

TEST_CASE("A fault hits the requests that it is for") {
  Wire wire;
  wire.transport.arm({Fault::kNotSent, 2, 2});
  std::vector<krux_status> ends;
  for (int i = 0; i < 4; ++i) {
    ends.push_back(wire.transport.send(wire.call, parse_url("http://127.0.0.1:1/"), {}, "", wire.answer).status);
  }
  CHECK(ends == std::vector<krux_status>{KRUX_OK, KRUX_NETWORK, KRUX_NETWORK, KRUX_OK});
}

TEST_CASE("Spoiled bodies are JSON of other types") {
  CHECK(with_wrong_types(R"({"a":"x","b":1,"c":true,"d":null,"e":[],"f":{}})", false) ==
        R"({"a":-1,"b":"many","c":{},"d":{},"e":{},"f":[]})");
  CHECK(with_wrong_types(R"({"a":"x","b":[{"c":1},{"c":1}]})", true) == R"({"a":"x","b":[7,{"c":"many"}]})");
  CHECK(with_wrong_types("not json", false) == "0");
  CHECK(with_wrong_types("", true) == "0");
}

TEST_CASE("Values are filled into JSON as texts") {
  Values values{{"n", "a\"b"}, {"port", "80"}};
  CHECK(fill_json(R"({"x":"{n}","y":["{port}",{"z":1}],"w":"{other}"})", values) ==
        R"({"x":"a\"b","y":["80",{"z":1}],"w":"{other}"})");
  add_members(values, "before", R"({"ts":"1.2","count":3,"list":[1]})");
  CHECK(values.at("before.ts") == "1.2");
  CHECK(values.at("before.count") == "3");
  CHECK_FALSE(values.contains("before.list"));
  add_members(values, "before", "[1]");
}

TEST_CASE("A child's lines are read, its end is told, and what it started ends with it") {
  const support::Scratch scratch;
  const auto log = scratch.path() / "log";
  ChildProcess child({{"sh", "-c", "read x; echo \"got $x\"; echo oops >&2; exit 3"}, {}, log, true, "this\n"});
  CHECK(child.read_line(steady_ms() + 10'000) == "got this");
  CHECK_FALSE(child.read_line(steady_ms() + 10'000));
  CHECK_FALSE(child.late());
  CHECK_THAT(child.end_in_words(), Contains("code 3"));
  CHECK(tail_of(log, 100) == "oops\\n");
  ChildProcess slow({{"sleep", "1000"}, {}, log, true, ""});
  CHECK_FALSE(slow.read_line(steady_ms() + 10));
  CHECK(slow.late());
  CHECK(slow.running());
  slow.end();
  CHECK_THAT(slow.end_in_words(), Contains("signal"));
  CHECK_THROWS_AS(ChildProcess({{"./nothing-of-this-name"}, {}, log, false, ""}), std::system_error);
}

TEST_CASE("Orders and lines survive their way between kit and worker") {
  const auto order = read_order(to_json(WorkerOrder{"/a/\"b", "/c", 1234, "t\n", {{"write.once", "notes.create"}}}));
  CHECK(order.manifest == "/a/\"b");
  CHECK(order.port == 1234);
  CHECK(order.token == "t\n");
  REQUIRE(order.tasks.size() == 1);
  CHECK(order.tasks[0].subject == "notes.create");
  WorkerLine line{WorkerLine::Kind::kEnded, {}, "x"};
  line.check.id = "sync.full";
  line.check.outcome = CheckOutcome::kNotApplicable;
  line.check.ms = 5;
  const auto read = read_line(to_json(line));
  CHECK(read.kind == WorkerLine::Kind::kEnded);
  CHECK(read.check.outcome == CheckOutcome::kNotApplicable);
  CHECK(read.check.ms == 5);
  CHECK_THROWS_AS(read_line("{"), Error);
  CHECK(read_line("{}").kind == WorkerLine::Kind::kCannot);
}

TEST_CASE("Results are held against the definition's outputs") {
  CapabilityDefinition capability;
  capability.outputs = {{"total", "", InputType::kInteger},
                        {"cut", "", InputType::kBoolean},
                        {"next_offset", "", InputType::kInteger},
                        {"next_before", "", InputType::kString},
                        {"members_left_out", "", InputType::kArray}};
  check_outputs(capability, R"({"total":1})", true);
  check_outputs(capability, R"({})", false);
  CHECK_THROWS_WITH(check_outputs(capability, R"({})", true), Contains("lacks \"total\""));
  CHECK_THROWS_WITH(check_outputs(capability, R"({"total":"1"})", false), Contains("no Integer"));
  CHECK_THROWS_WITH(check_outputs(capability, R"({"total":1,"freshness":1})", true), Contains("the host's"));
  OutputDefinition notes{"notes", "", InputType::kArray};
  notes.items = {{"", "", InputType::kObject, {{"id", "", InputType::kString}, {"at", "", InputType::kDateTime}}}};
  capability.outputs = {notes};
  check_outputs(capability, R"({"notes":[]})", true);
  check_outputs(capability, R"({"notes":[{"id":"a","more":null},{"at":"2026-11-24T00:00:00Z"}]})", true);
  CHECK_THROWS_WITH(check_outputs(capability, R"({"notes":[{},{"id":null}]})", true), Contains("\"notes[1].id\""));
  CHECK_THROWS_WITH(check_outputs(capability, R"({"notes":["a"]})", true), Contains("\"notes[0]\""));
  capability.inputs.resize(2);
  capability.inputs[0].name = "a";
  capability.inputs[1] = {"b", InputType::kInteger};
  for (int kind = 0; kind < 3; ++kind) CHECK(is_json_object(with_odd_values(capability, kind), {1 << 20, 8}));
}

TEST_CASE("a collection that the definition names must be the adapter's") {
  ServiceDefinition definition;
  CHECK(missing_collection(definition, {}).empty());
  definition.resources = {{"notes://a", "a", "A.", "", "notes.read", RecordAddress{"pages", "a"}}};
  definition.prompts = {
      {"notes.a", "A", "A.", {}, {{"book", "B.", false, "", {}, ReplicaValues{"books", "title"}}}, {}}};
  CapabilityDefinition read;
  read.inputs.emplace_back().values_from = ReplicaValues{"words", "word"};
  definition.capabilities = {read};
  std::vector<CollectionSpec> declared;
  for (const char* name : {"words", "books", "pages"}) {
    CHECK(missing_collection(definition, declared) == name);
    declared.emplace_back().name = name;
  }
  CHECK(missing_collection(definition, declared).empty());
}

}  // namespace KRUXOS_TEST_FILE
