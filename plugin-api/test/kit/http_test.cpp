#include <kruxos/kit/http.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;
using kruxos::ErrorKind;

namespace {

kruxos::HttpResponse response(int status, kruxos::Headers headers = {}) {
  return {status, std::move(headers), ""};
}

class OwnError : public kruxos::ProxyError {
 public:
  OwnError(ErrorKind kind, const std::string& message, std::string own)
      : ProxyError(kind, message), name(std::move(own)) {}
  std::string name;
};

}  // namespace

TEST_CASE("an answer's kind, and whether the service said that it did nothing") {
  struct Row {
    int status;
    ErrorKind kind;
    bool no_effect;
  };
  using enum ErrorKind;
  const Row rows[] = {{302, kUnavailable, false}, {400, kRefused, true},      {401, kAuth, true},
                      {403, kAuth, true},         {404, kNotFound, true},     {408, kUnavailable, false},
                      {409, kRefused, true},      {410, kNotFound, true},     {422, kRefused, true},
                      {429, kRateLimited, true},  {500, kUnavailable, false}, {503, kUnavailable, false}};
  for (const auto& row : rows) {
    INFO(row.status);
    const auto error = error_of(response(row.status), "The service");
    CHECK(error.kind() == row.kind);
    CHECK(error.has_no_effect() == row.no_effect);
    CHECK(error.retry_after_ms() == -1);
    CHECK_THAT(error.what(), Catch::StartsWith("The service ") && Catch::EndsWith("."));
    CHECK_FALSE(is_success(response(row.status)));
  }
  CHECK(is_success(response(204)));
  CHECK(error_of(response(429, {{"retry-after", "30"}}), "It").retry_after_ms() == 30'000);
}

TEST_CASE("how long a service asks to wait") {
  const auto told = [](const std::string& value) { return retry_after_ms(response(429, {{"Retry-After", value}})); };
  CHECK(told("7") == 7'000);
  CHECK(told("0") == 0);
  CHECK(told("-5") == 0);
  CHECK(told("1000000") == 86'400'000);
  for (const char* none : {"", "soon", "Sat, 21 Nov 2026 09:30:00 GMT", "99999999999999999999"})
    CHECK(told(none) == -1);
  CHECK(retry_after_ms(response(429)) == -1);
}

TEST_CASE("a failed exchange had no effect only where the host refused to send") {
  for (const auto kind : {ErrorKind::kRateLimited, ErrorKind::kAuth, ErrorKind::kInvalid})
    CHECK(failure_of({kind, "Why.", 5, {}}).has_no_effect());
  for (const auto kind : {ErrorKind::kNetwork, ErrorKind::kTimeout, ErrorKind::kCancelled})
    CHECK_FALSE(failure_of({kind, "Why.", 5, {}}).has_no_effect());
  const auto own = failure_of<OwnError>({ErrorKind::kRateLimited, "Why.", 5, {}}, "name");
  CHECK(own.name == "name");
  CHECK(own.retry_after_ms() == 5);
  CHECK(own.what() == std::string("Why."));
  CHECK(is_no_answer(ErrorKind::kTimeout));
  CHECK_FALSE(is_no_answer(ErrorKind::kRateLimited));
}

TEST_CASE("addresses and forms take any text") {
  CHECK(encoded("aZ09-._~") == "aZ09-._~");
  CHECK(encoded("a/b?c&d e+\xC3\xA4") == "a%2Fb%3Fc%26d%20e%2B%C3%A4");
  CHECK(form({}) == "");
  CHECK(form({{"a b", "1&2"}, {"c", ""}}) == "a%20b=1%262&c=");
  const auto request = json_request("POST", "notes", "{}");
  CHECK(request.headers == kruxos::Headers{{"Content-Type", "application/json"}});
  CHECK(json_request("GET", "notes").headers.empty());
}

}  // namespace KRUXOS_TEST_FILE
