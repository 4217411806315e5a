// How the webhook's messages are signed.
#include "core/notify/webhook_key.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string why_no_key(const std::string& text) {
  try {
    const WebhookKey key{Secret(text)};
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a message is signed as receivers' libraries check it", "[webhook]") {
  // The example of the Standard Webhooks specification.
  const WebhookKey key(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
  CHECK(key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})") ==
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_CASE("what is no secret of a webhook is refused, and not repeated", "[webhook]") {
  for (const std::string bad :
       {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}) {
    CAPTURE(bad);
    const auto why = why_no_key(bad);
    CHECK_THAT(why, Catch::Contains("is no secret of a webhook"));
    CHECK((bad.size() < 8 || why.find(bad.substr(6)) == std::string::npos));
  }
  CHECK(why_no_key("whsec_" + std::string(86, 'A') + "==").empty());
  CHECK_FALSE(why_no_key("whsec_" + std::string(88, 'A')).empty());
}

TEST_CASE("the webhook's secret is made once, for the host's user alone", "[webhook]") {
  const support::Scratch scratch;
  const auto file = scratch.path() / "keys/webhook.secret";
  const auto signature = open_webhook_key(file).sign("msg_1", 1, "{}");
  struct stat info {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(open_webhook_key(file).sign("msg_1", 1, "{}") == signature);

  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  CHECK_THROWS_WITH(open_webhook_key(file), Catch::Contains("can be read or written by others"));
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  std::ofstream(file, std::ios::trunc) << "hunter2\n";
  CHECK_THROWS_WITH(
      open_webhook_key(file),
      Catch::StartsWith("The file " + file.string() + " of webhook.secret_file") && !Catch::Contains("hunter2"));
}

}  // namespace KRUXOS_TEST_FILE
