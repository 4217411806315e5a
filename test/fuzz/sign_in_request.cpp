// Requests of anybody to the endpoints of sign-in, and to /mcp without a key: answered as OAuth wants it, with no text
// of the stranger's where it would be markup, an address or a header.
#include <set>

#include "gateway_target.hpp"

namespace {

using namespace krux;
using namespace krux::fuzz;

const std::string kBack = "https://client.example/back";

bool is_registered(std::string_view location) {
  return location.starts_with(kBack + "?") || location.starts_with("/authorize/");
}

void check_page(const ServerResponse& response) {
  for (const auto* markup : {"<script", "<img", "<iframe", "<svg", "javascript:"})
    require(response.body.find(markup) == std::string::npos, "a page has no markup of a stranger's");
}

void check_json(const ServerResponse& response) {
  const auto answer = parse_json(response.body, "The answer", {1 << 20, 20});
  require(answer.IsObject(), "an answer is an object");
  if (response.status < 400) return;
  require(find_member(answer, "error") != nullptr, "a refusal names its error");
}

void check(const ServerResponse& response) {
  static const std::set<int> known{200, 201, 204, 303, 400, 401, 403, 404, 405, 410, 411, 413, 426, 429, 503};
  require(known.contains(response.status), "a status is one of those that the document lists");
  for (const auto& [name, value] : response.headers) {
    require(one_line(value), "a header's value is one line");
    if (name == "Location") require(is_registered(value), "a browser is sent where a client has registered to be");
  }
  if (response.body.empty()) return;
  response.content_type.starts_with("text/html") ? check_page(response) : check_json(response);
}

std::string value_of(const ServerResponse& response, std::string_view wanted) {
  for (const auto& [name, value] : response.headers) {
    if (name == wanted) return value;
  }
  return {};
}

/// A request has begun: its browser sees the page, and is sent back once the operator has accepted.
void follow(GatewayTarget& target, const ServerResponse& begun) {
  const auto cookie = value_of(begun, "Set-Cookie");
  if (begun.status != 303 || cookie.empty()) return;
  ServerRequest load;
  load.method = "GET";
  load.path = value_of(begun, "Location");
  load.headers = {{"host", "kruxos.example"}, {"cookie", cookie.substr(0, cookie.find(';'))}};
  load.peer.address = "192.0.2.7";
  const auto page = target.ask(load);
  require(page.status == 200, "who began sees the page");
  check(page);
  target.store.accept(target.store.requests().back().code, "agent_1", "operator:fuzz");
  const auto back = target.ask(load);
  require(back.status == 303 && value_of(back, "Location").find("code=kruxac_") != std::string::npos,
          "who was accepted is sent back with a code");
  check(back);
  target.store.reject(target.store.requests().back().code, "operator:fuzz");
  const auto refused = target.ask(load);
  require(refused.status == 303 && value_of(refused, "Location").find("error=access_denied") != std::string::npos,
          "who was refused is sent back with an error");
  check(refused);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static GatewayTarget target;
  static std::string client;
  // Nothing is refused since too much came before.
  target.clock.advance(600'000);
  if (!target.store.client(client)) client = target.store.register_client({"A client", {kBack}}).client_id;
  std::string text(data, data + size);
  for (auto at = text.find("CLIENT"); at != std::string::npos; at = text.find("CLIENT", at))
    text.replace(at, 6, client);
  auto request = request_of(text);
  if (!request.header("host")) request.headers.emplace_back("host", "kruxos.example");
  if (!request.header("content-length"))
    request.headers.emplace_back("content-length", std::to_string(request.body.size()));
  const auto response = target.ask(std::move(request));
  check(response);
  follow(target, response);
  return 0;
}
