#include "host/gateway/json_rpc.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace std::string_literals;

namespace {

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::atomic<int> ran{0};

void dispatch(const RpcRequest& request, const RpcReply& reply) {
  const auto& [method, params, id] = request;
  ++ran;
  if (method == "echo") return reply(std::string(params.empty() ? "null" : params));
  if (method == "fail") return reply(RpcError{-32001, "no \"way\"", R"({"type":"PolicyDenied"})"});
  if (method == "throw") throw std::runtime_error("a secret detail");
  if (method == "throw_ours") throw database_error("The disk is full.");
  if (method == "twice") reply(std::string("1"));
  if (method == "twice") return reply(std::string("2"));
  reply(RpcError{rpc_code::kMethodNotFound, "no such method", {}});
}

std::string answer(std::string_view message) {
  std::string text = "never";
  int calls = 0;
  run_json_rpc(message, dispatch, {}, [&](std::string t) {
    text = std::move(t);
    ++calls;
  });
  CHECK(calls == 1);
  return text;
}

int code_of(const std::string& text) {
  const auto document = parse_json(text, "the answer", {64u << 20, 64});
  const auto* error = find_member(document, "error");
  return error ? static_cast<int>(find_int(*error, "code").value_or(1)) : 0;
}

std::string ask(std::string_view id) {
  return answer(std::string(R"({"jsonrpc":"2.0","method":"echo","id":)").append(id).append("}"));
}

}  // namespace

TEST_CASE("a call is answered with its result", "[rpc]") {
  CHECK(answer(R"({"jsonrpc":"2.0","method":"echo","params":{"a":[1,{"b":2.50}]},"id":7})") ==
        R"({"jsonrpc":"2.0","id":7,"result":{"a":[1,{"b":2.50}]}})");
  CHECK(answer(" \n{ \"id\" : 7 , \"params\" : { \"a\" : 1 } ,\t\"method\" : \"echo\" , \"jsonrpc\" : \"2.0\" }\n") ==
        R"({"jsonrpc":"2.0","id":7,"result":{ "a" : 1 }})");
  CHECK(answer(R"({"jsonrpc":"2.0","method":"ech\u006f","params":null,"id":1,"more":true})") ==
        R"({"jsonrpc":"2.0","id":1,"result":null})");
  CHECK(answer(R"({"jsonrpc":"2.0","method":"twice","id":1})") == R"({"jsonrpc":"2.0","id":1,"result":1})");
  CHECK(answer(R"({"jsonrpc":"2.0","method":"fail","id":1})") ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no \"way\"","data":{"type":"PolicyDenied"}}})");
}

TEST_CASE("ids come back exactly as they were", "[rpc]") {
  for (const std::string id : {"0", "-1", "1.0", "1e3", "12345678901234567890123", "0.10", "0.0000000001e-2147483639",
                               R"("")", R"("a\u0041\/é")", R"("\ud83d\ude00")", R"("x\"y")", "null"}) {
    INFO(id);
    CHECK(ask(id) == R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":null})");
  }
  for (const std::string id : {"true", "false", "[1]", "{}", "[]"}) {
    INFO(id);
    const auto text = ask(id);
    CHECK(code_of(text) == rpc_code::kInvalidRequest);
    CHECK(text.find(R"("id":null)") != std::string::npos);
  }
}

TEST_CASE("notifications run and are not answered", "[rpc]") {
  ran = 0;
  CHECK(answer(R"({"jsonrpc":"2.0","method":"echo"})").empty());
  CHECK(answer(R"({"jsonrpc":"2.0","method":"nothing"})").empty());
  CHECK(answer(R"({"jsonrpc":"2.0","method":"throw"})").empty());
  CHECK(answer(R"([{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"fail"}])").empty());
  CHECK(ran == 5);
  CHECK(answer(R"({"jsonrpc":"2.0","method":"echo","params":[1]})").empty());
}

TEST_CASE("what is no valid message has its code", "[rpc]") {
  struct Row {
    std::string message;
    int code;
  };
  const std::vector<Row> rows{
      {"", -32700},
      {"   ", -32700},
      {"{", -32700},
      {"nonsense", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","id":1)", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","id":1}})", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","id":1} x)", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","id":01})", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","id":1e999})", -32700},
      {R"({'jsonrpc':"2.0"})", -32700},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":1}", -32700},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"\xc0\xaf\",\"id\":1}", -32700},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"\xed\xa0\x80\",\"id\":1}", -32700},
      {R"({"jsonrpc":"2.0","method":"\ud800","id":1})", -32601},
      {R"({"jsonrpc":"2.0","method":"a\u0000b","id":1})", -32601},
      {R"({"jsonrpc":"2.0","method":"\ud80","id":1})", -32700},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"id\":1}\0"s, -32700},
      {"{\"jsonrpc\":\"2.0\",\0\"method\":\"echo\",\"id\":1}"s, -32700},
      {"\0"s, -32700},
      {"\xef\xbb\xbf{}", -32700},
      {times(100'000, "["), -32700},
      {times(100'000, "{\"a\":"), -32700},
      {times(33, "[") + times(33, "]"), -32700},
      {R"({"jsonrpc":"2.0","method":"echo","method":"fail","id":1})", -32700},
      {R"({"jsonrpc":"2.0","method":"echo","params":)" + times(32, "[") + times(32, "]") + R"(,"id":1})", -32700},
      {"\"" + std::string(1 << 20, 'x') + "\"", -32700},
      {"1", -32600},
      {"null", -32600},
      {R"("text")", -32600},
      {"{}", -32600},
      {"[]", -32600},
      {R"({"jsonrpc":"1.0","method":"echo","id":1})", -32600},
      {R"({"jsonrpc":2.0,"method":"echo","id":1})", -32600},
      {R"({"method":"echo","id":1})", -32600},
      {R"({"jsonrpc":"2.0","id":1})", -32600},
      {R"({"jsonrpc":"2.0","method":1,"id":1})", -32600},
      {R"({"jsonrpc":"2.0","method":1})", -32600},
      {R"({"jsonrpc":"2.0","method":"echo","params":"x","id":1})", -32600},
      {R"({"jsonrpc":"2.0","method":"echo","params":[1],"id":1})", -32602},
      {R"({"jsonrpc":"2.0","method":"","id":1})", -32601},
      {R"({"jsonrpc":"2.0","method":"rpc.discover","id":1})", -32601},
      {R"({"jsonrpc":"2.0","method":"throw","id":1})", -32603},
      {R"({"jsonrpc":"2.0","method":"throw_ours","id":1})", -32603},
  };
  for (const auto& row : rows) {
    INFO(row.message.substr(0, 100));
    const auto text = answer(row.message);
    CHECK(code_of(text) == row.code);
    CHECK(text.find("secret") == std::string::npos);
  }
  CHECK(code_of(answer(R"({"jsonrpc":"2.0","method":"echo","params":{"a":)" + times(30, "[") + times(30, "]") +
                       R"(},"id":1})")) == 0);
}

TEST_CASE("NULs and halves of surrogate pairs in texts are handed on, to be refused by who knows their field",
          "[rpc]") {
  const auto params = R"({"x\u0000":"a\u0000b \ud800","y":"\udfff","z":"\ud83d\ude00","w":{"v":"\uDC00 behind"}})"s;
  CHECK(answer(R"({"jsonrpc":"2.0","method":"echo","params":)" + params + R"(,"id":"\u0000 \ud800"})") ==
        R"({"jsonrpc":"2.0","id":"\u0000 \ud800","result":)" + params + "}");
  std::string why;
  const auto parts = take_apart(params, {}, why);
  REQUIRE(parts);
  CHECK(parts->members[0].name == "x\0"s);
  CHECK_THAT(why_odd_text(parts->members[0].value.text), Catch::Contains("U+0000"));
  CHECK_THAT(why_odd_text(parts->members[1].value.text), Catch::Contains("surrogate"));
  CHECK(parts->members[2].value.text == "\U0001F600");
  CHECK(parts->members[3].value.raw == R"({"v":"\uDC00 behind"})");
}

TEST_CASE("an invalid request keeps the id that it names", "[rpc]") {
  CHECK(answer(R"({"jsonrpc":"2.0","id":"mine"})").find(R"("id":"mine")") != std::string::npos);
}

TEST_CASE("batches", "[rpc]") {
  const std::string call = R"({"jsonrpc":"2.0","method":"echo","id":)";
  SECTION("each request has its answer, in order, whatever stands between") {
    CHECK(answer("[" + call + R"(1},1,{"jsonrpc":"2.0","method":"echo"},)" + call + R"("1"},)" + call + "null}]") ==
          R"([{"jsonrpc":"2.0","id":1,"result":null},)"
          R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"A request must be a JSON object."}},)"
          R"({"jsonrpc":"2.0","id":"1","result":null},{"jsonrpc":"2.0","id":null,"result":null}])");
  }
  SECTION("a repeated id is refused and not run; null may repeat") {
    ran = 0;
    const auto text = answer("[" + call + "1}," + call + "1}," + call + "null}," + call + "null}]");
    CHECK(ran == 3);
    CHECK(text.find("stands twice") != std::string::npos);
  }
  SECTION("a batch in a batch, and an object with a repeated key, spoil only themselves") {
    const auto text = answer("[[" + call + "1}]," + call + R"(2},{"id":3,"id":4}])");
    CHECK(text.find(R"("id":2,"result")") != std::string::npos);
    CHECK(times(1, text).find("A request must be") != std::string::npos);
    CHECK(text.find("\\\"id\\\" stands twice") != std::string::npos);
  }
  SECTION("100 requests, not more") {
    std::string hundred, items;
    for (int i = 0; i < 100; ++i) items += (i ? "," : "") + call + std::to_string(i) + "}";
    const auto document = parse_json(answer("[" + items + "]"), "the answer");
    REQUIRE(document.IsArray());
    CHECK(document.Size() == 100);
    ran = 0;
    CHECK(code_of(answer("[" + items + "," + call + "100}]")) == rpc_code::kInvalidRequest);
    CHECK(code_of(answer("[1" + times(400'000, ",1") + "]")) == rpc_code::kInvalidRequest);
    CHECK(ran == 0);
  }
}

TEST_CASE("an object with very many keys is refused", "[rpc]") {
  std::string keys;
  for (int i = 0; i < 300; ++i) keys += ",\"k" + std::to_string(i) + "\":1";
  CHECK(code_of(answer(R"({"jsonrpc":"2.0","method":"echo","id":1)" + keys + "}")) == rpc_code::kParse);
}

TEST_CASE("a batch whose answers come late and from several threads is complete", "[rpc]") {
  std::vector<std::thread> threads;
  std::string text;
  std::string items;
  for (int i = 0; i < 50; ++i)
    items += std::string(i ? "," : "") + R"({"jsonrpc":"2.0","method":"echo","id":)" + std::to_string(i) + "}";
  std::atomic<int> done{0};
  run_json_rpc(
      "[" + items + "]",
      [&](const RpcRequest&, RpcReply reply) {
        threads.emplace_back([reply = std::move(reply)] { reply(std::string("{}")); });
      },
      {},
      [&](std::string t) {
        text = std::move(t);
        ++done;
      });
  for (auto& thread : threads) thread.join();
  CHECK(done == 1);
  CHECK(parse_json(text, "the answer").Size() == 50);
}

TEST_CASE("every byte string is survived by the message parser", "[rpc]") {
  const std::string good = R"([{"jsonrpc":"2.0","method":"echo","params":{"a":"\u00e9x"},"id":1},{"jsonrpc":"2.0"}])";
  std::uint64_t seed = 7;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 1 + round % 5; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      bytes[(seed >> 33) % bytes.size()] = static_cast<char>(seed >> 25);
    }
    std::string text;
    run_json_rpc(bytes, dispatch, {}, [&](std::string t) { text = std::move(t); });
    if (!text.empty()) CHECK_NOTHROW(parse_json(text, "the answer"));
  }
}

}  // namespace KRUXOS_TEST_FILE
