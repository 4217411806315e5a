// A replica with one message in it, "m1", and a scripted Gmail behind it.
#pragma once

#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>

#include <string>

#include "model.hpp"
#include "read.hpp"

namespace gmail::test {

using kruxos::testing::CallKind;

struct Desk {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, collections()};
  ApiClient api{host.host().http()};
  MailReader reader{api, "me@example.com"};

  Desk() {
    auto to = store.store();
    to.put(label_record({"INBOX", "INBOX", true}));
    to.put(label_record({"Label_1", "Clients/Acme", false}));
    Message m;
    m.id = "m1";
    m.thread_id = "t1";
    m.from = {{"Ada \"A\"", "ada@example.com"}};
    m.to = {{"", "me@example.com"}};
    m.cc = {{"", "bob@example.com"}};
    m.subject = "Plans";
    m.snippet = "the snippet";
    m.labels = {"INBOX", "Label_1", "Label_9"};
    m.date_ms = 1'700'000'000'000;
    m.message_id = "x@y";
    to.put(message_record(m));
    to.commit();
  }
  rapidjson::Document read(const std::string& capability, const std::string& params, CallKind kind = CallKind::kRead) {
    kruxos::testing::FakeCall call(host.clock, kind);
    auto out = parse(reader.read(call.call(), store.reader(), capability, params));
    REQUIRE_FALSE(out.HasParseError());
    return out;
  }
  void keep(const char* name, std::string bytes) {
    auto to = store.store();
    to.put_blob(kMessages, "m1", name, -1, [&](char* buffer, std::size_t room) {
      const auto count = bytes.copy(buffer, room);
      bytes.erase(0, count);
      return static_cast<std::int64_t>(count);
    });
    to.commit();
  }
  std::string refused(const std::string& capability, const std::string& params) {
    kruxos::testing::FakeCall call(host.clock, CallKind::kFetch);
    try {
      reader.read(call.call(), store.reader(), capability, params);
    } catch (const kruxos::ProxyError& e) {
      return e.type();
    }
    return "taken";
  }
};

}  // namespace gmail::test
