#include <kruxos/testing.hpp>

#include <string>

#include "api_client.hpp"
#include "body.hpp"
#include "fuzz.hpp"
#include "mail/utf8.hpp"
#include "model.hpp"
#include "raw_reader.hpp"
#include "sync.hpp"

namespace {

using krux::fuzz::require;
using kruxos::testing::FakeAnswer;

void read_as_message(std::string_view bytes) {
  const auto json = gmail::parse(bytes);
  if (json.HasParseError()) return;
  if (const auto message = gmail::message_from_gmail(json)) {
    const auto record = gmail::message_record(*message);
    const auto back = gmail::message_from_record(record.json);
    require(back.has_value(), "a record can be read again");
    require(gmail::message_record(*back).json == record.json, "and says the same");
    require(gmail::is_utf8(record.text), "the searched text is UTF-8");
  }
  gmail::label_from_gmail(json);
  gmail::message_from_record(bytes);
}

/// However the answer is cut, the same mail comes out of it.
void read_as_mail(std::string_view bytes) {
  const auto read = [&](std::size_t part) {
    gmail::RawReader reader(1 << 20);
    for (std::size_t at = 0; at < bytes.size(); at += part) reader.take(bytes.substr(at, part));
    return reader.is_whole() ? reader.take_mail() : "nothing";
  };
  const auto mail = read(1 << 20);
  require(mail == read(1), "parts change nothing");
  if (mail != "nothing") gmail::body_of(mail, "m1", 0);
}

/// As the answer to whatever a sync asks.
void sync_with(const std::string& bytes) {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store(host.clock, gmail::collections());
  const gmail::ApiClient api(host.host().http());
  gmail::Sync sync(api, host.host(), {});
  bool profile_is_told = false;
  host.on_request = [&](const kruxos::testing::FakeRequest& request) {
    if (!profile_is_told && request.url.find("/profile") != std::string::npos) {
      profile_is_told = true;
      return FakeAnswer::json(200, R"({"historyId":"7","messagesTotal":3})");
    }
    return FakeAnswer::json(200, bytes);
  };
  for (int steps = 0; steps < 6; ++steps) {
    kruxos::testing::FakeCall call(host.clock);
    auto lent = store.store();
    try {
      if (sync.step(call.call(), lent).next == KRUX_SYNC_DONE) break;
    } catch (const kruxos::ProxyError&) {
      store.drop_uncommitted();
    }
    host.clock.advance(600'000);
  }
  host.check();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  read_as_message(bytes);
  read_as_mail(bytes);
  sync_with(bytes);
  kruxos::HttpResponse refused;
  refused.status = 403;
  refused.body = bytes;
  const auto error = gmail::error_of("messages.get", refused, 0);
  require(gmail::is_utf8(error.what()), "a refusal is UTF-8");
  return 0;
}
