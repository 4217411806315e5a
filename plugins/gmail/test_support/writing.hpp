// A writer over an emulated mailbox, and writes as the host makes them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <kruxos/testing.hpp>

#include "../api_client.hpp"
#include "../mail/read_mail.hpp"
#include "../model.hpp"
#include "../write.hpp"
#include "emulators/gmail/testing.hpp"

namespace emu = krux::test::gmail;

namespace gmail {

/// The emulator's mailbox behind the fake host's HTTP.
class WritingRig {
 public:
  WritingRig() {
    host.on_request = [this](const kruxos::testing::FakeRequest& request) { return answer(request); };
  }

  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, collections()};
  emu::Emulated gmail;
  ApiClient client{host.host().http()};
  /// Asked before the emulator: an answer of its own, or nothing.
  std::function<std::optional<kruxos::testing::FakeAnswer>(const kruxos::testing::FakeRequest&)> override_answer;

  emu::Mailbox& mailbox() { return gmail.state.mailbox(); }

  static emu::Id id_of(const std::string& hex) { return std::stoull(hex, nullptr, 16); }
  static std::string hex_of(emu::Id id) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
    return text;
  }

  /// A mail arrives, one second later; returns its id.
  std::string arrive(const std::string& subject, const std::vector<std::string>& labels = {"INBOX", "UNREAD"}) {
    host.clock.advance(1'000);
    const auto number = std::to_string(++mails_);
    emu::NewMessage mail{emu::Content("From: Person " + number + " <p" + number + "@example.com>\r\nTo: " +
                                      "agent@example.com\r\nSubject: " + subject + "\r\nMessage-ID: <m" + number +
                                      "@example.com>\r\n\r\nThe text of mail " + number + ".\r\n"),
                         host.clock.now_ms,
                         {},
                         labels,
                         {}};
    return hex_of(mailbox().add(std::move(mail)).id);
  }
  void modify(const std::string& id, const std::vector<std::string>& add, const std::vector<std::string>& remove) {
    mailbox().modify({id_of(id)}, add, remove);
  }
  void erase(const std::string& id) { mailbox().erase({id_of(id)}); }

  /// How many requests since the last reset_calls() have this in their address.
  std::size_t calls(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(host.requests.begin(), host.requests.end(), [&](const auto& request) {
      return request.url.find(part) != std::string::npos;
    }));
  }
  void reset_calls() { host.requests.clear(); }

 private:
  kruxos::testing::FakeAnswer answer(const kruxos::testing::FakeRequest& request) {
    gmail.state.clock.set_ms(host.clock.now_ms);
    if (override_answer) {
      if (auto own = override_answer(request)) return *own;
    }
    emu::HttpRequest real;
    real.method = request.method;
    const auto question = request.url.find('?');
    real.path = "/" + request.url.substr(0, question);
    if (question != std::string::npos) real.query = request.url.substr(question + 1);
    real.body = request.body;
    for (const auto& [name, value] : request.headers) real.headers[emu::lower(name)] = value;
    real.headers["authorization"] = std::string("Bearer ") + emu::kToken;
    const auto outcome = std::make_shared<emu::Outcome>();
    gmail.api.handle(real, outcome);
    if (outcome->how != "answered") return kruxos::testing::FakeAnswer::dropped();
    return kruxos::testing::FakeAnswer::with(outcome->given.status, outcome->given.body, outcome->given.headers);
  }
  std::int64_t mails_ = 0;
};

constexpr const char* kOwn = "agent@example.com";

struct Written {
  std::string operation = "email.send";
  std::string params = R"({"to":"bob@example.com","subject":"Dinner","body":"At eight?"})";
  std::string write_id = "w_1";
  std::string note, point;
  std::uint32_t attempt = 0;
  std::int64_t first_attempt_at_ms = 0;

  kruxos::BufferedWrite view() const {
    return {write_id, operation, params, note, point, attempt, 1'700'000'000'000, first_attempt_at_ms};
  }
};

class Desk {
 public:
  WritingRig rig;

  /// As the host does: a new instance each time, the attempt counted, the notes kept whatever comes of it.
  std::string execute(Written& write) {
    if (write.attempt++ == 0) write.first_attempt_at_ms = rig.host.clock.now_ms;
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kWrite, write.write_id, write.attempt);
    struct Keep {
      kruxos::testing::FakeCall& call;
      Written& write;
      ~Keep() {
        if (!call.notes.empty()) write.note = call.notes.back();
      }
    } keep{call, write};
    return writer().execute(call.call(), write.view());
  }
  kruxos::EffectFound find(const Written& write) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kFetch);
    return writer().find_effect(call.call(), write.view());
  }
  void clean_up(const Written& write) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kWrite);
    writer().clean_up(call.call(), write.view());
  }
  void make_point(Written& write) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kFetch);
    write.point = writer().rollback_point(call.call(), write.view());
  }
  std::string undo(const Written& write, const std::string& result, bool force = false) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kWrite);
    return writer().rollback(call.call(), {"rb_1", write.operation, write.params, write.point, result, force});
  }
  kruxos::EffectFound find_undo(const Written& write, const std::string& result) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kFetch);
    return writer().find_rollback(call.call(), {"rb_1", write.operation, write.params, write.point, result, false});
  }

  /// The next request whose address holds `part` is carried out, and its answer lost.
  void lose_answer(const std::string& part) {
    rig.override_answer =
        [this, part, done = false](
            const kruxos::testing::FakeRequest& request) mutable -> std::optional<kruxos::testing::FakeAnswer> {
      if (done || request.safe() || request.url.find(part) == std::string::npos) return std::nullopt;
      done = true;
      rig.host.on_request(request);
      return kruxos::testing::FakeAnswer::dropped();
    };
  }
  /// The next unsafe request whose address holds `part` is answered so, and not carried out.
  void answer(const std::string& part, const kruxos::testing::FakeAnswer& answer) {
    rig.override_answer =
        [part, answer, done = false](
            const kruxos::testing::FakeRequest& request) mutable -> std::optional<kruxos::testing::FakeAnswer> {
      if (done || request.safe() || request.url.find(part) == std::string::npos) return std::nullopt;
      done = true;
      return answer;
    };
  }

  auto& effects() { return rig.mailbox().effects; }
  std::string labels(const std::string& id) {
    auto all = rig.mailbox().find(WritingRig::id_of(id))->labels;
    std::sort(all.begin(), all.end());
    std::string out;
    for (const auto& one : all) out += (out.empty() ? "" : " ") + one;
    return out;
  }

 private:
  Writer writer() { return {rig.client, rig.host.host().uploads(), kOwn}; }
};

/// How it failed; fails the test where it did not.
inline kruxos::ProxyError failure(Desk& desk, Written& write) {
  try {
    desk.execute(write);
  } catch (const kruxos::ProxyError& error) {
    return error;
  }
  throw std::logic_error("it was done");
}

/// `raw` must live as long as what is returned.
inline ParsedMail mail_of(Desk& desk, const std::string& id, std::string& raw) {
  raw = *desk.rig.mailbox().find(WritingRig::id_of(id))->content.raw();
  return ParsedMail(raw);
}

inline std::string id_in(const std::string& result) {
  return std::string(text_of(parse(result), "message_id"));
}

}  // namespace gmail
