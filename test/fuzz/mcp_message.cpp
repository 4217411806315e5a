// Messages of an agent over /mcp and /rpc, with their heads: each is answered, by JSON or not at all.
#include "gateway_target.hpp"

namespace {

using namespace krux;
using namespace krux::fuzz;

void check(const ServerResponse& response) {
  for (const auto& [name, value] : response.headers) require(one_line(value), "a header's value is one line");
  if (response.stream) return;
  require(response.status != 500, "nothing is beyond what was thought of");
  if (response.body.empty()) return;
  const auto answer = parse_json(response.body, "The answer", {64 << 20, 200});
  const auto is_answer = [](const JsonValue& one) {
    return one.IsObject() && (find_member(one, "result") != nullptr) != (find_member(one, "error") != nullptr);
  };
  if (!answer.IsArray()) return require(is_answer(answer), "an answer has a result or an error");
  require(!answer.Empty() && answer.Size() <= 100, "a batch's answers are as many as its requests at most");
  for (const auto& one : answer.GetArray()) require(is_answer(one), "each has a result or an error");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static GatewayTarget target;
  target.clock.advance(86'400'000);  // so that sessions end
  auto request = request_of({data, data + size});
  // Behind its key: what comes before is the sign-in target's.
  request.headers.emplace_back("host", "localhost");
  request.headers.emplace_back("authorization", "Bearer " + kKey);
  request.method = "POST";
  request.path = request.path.starts_with("/rpc") ? "/rpc" : "/mcp";
  check(target.ask(std::move(request)));
  return 0;
}
