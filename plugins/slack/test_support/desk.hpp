// A writer at work on the emulator's workspace, and the writes that the ledger lends it.
#pragma once

#include <catch2/catch.hpp>

#include "../write.hpp"
#include "rig.hpp"

namespace slack {

inline const std::string kA = "C0000000A";

/// What the ledger lends of one write.
struct Written {
  std::string id = "w_1", operation = "slack.send", params = R"({"channel":"C0000000A","text":"hello <&> all"})";
  std::uint32_t attempt = 1;
  std::int64_t first_attempt_at_ms = 0;
  std::string note, point;
  kruxos::BufferedWrite lent() const {
    return {id, operation, params, note, point, attempt, first_attempt_at_ms, first_attempt_at_ms};
  }
};

struct Desk {
  Rig rig;
  std::optional<std::vector<std::string>> scopes = emu::all_scopes();
  explicit Desk(const std::string& token = "xoxb-test") : rig({}, token) { rig.add_channel(kA, "general"); }

  Writer writer() { return Writer(rig.client, scopes, *rig.changes); }
  std::string execute(Written& write) {
    if (write.first_attempt_at_ms == 0) write.first_attempt_at_ms = rig.host.clock.now_ms;
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kWrite, write.id, write.attempt);
    struct Keep {
      const kruxos::testing::FakeCall& call;
      std::string& note;
      ~Keep() {
        if (!call.notes.empty()) note = call.notes.back();
      }
    } keep{call, write.note};
    return writer().execute(call.call(), write.lent());
  }
  /// As the host does before the first attempt.
  void make_point(Written& write) {
    kruxos::testing::FakeCall call(rig.host.clock);
    write.point = writer().rollback_point(call.call(), write.lent());
  }
  kruxos::EffectFound find(const Written& write) {
    kruxos::testing::FakeCall call(rig.host.clock);
    return writer().find_effect(call.call(), write.lent());
  }
  std::string undo(const Written& write, const std::string& result, bool force = false) {
    kruxos::testing::FakeCall call(rig.host.clock);
    return writer().rollback(call.call(), {"rb_1", write.operation, write.params, write.point, result, force});
  }
  std::int32_t find_undo(const Written& write, const std::string& result) {
    kruxos::testing::FakeCall call(rig.host.clock);
    return writer()
        .find_rollback(call.call(), {"rb_1", write.operation, write.params, write.point, result, false})
        .answer;
  }
  /// Posts without the caller learning of it.
  void lose_answer(Written& write) {
    const auto before = rig.host.on_request;
    rig.host.on_request = [before](const kruxos::testing::FakeRequest& request) {
      before(request);
      return kruxos::testing::FakeAnswer::failed(kruxos::ErrorKind::kTimeout);
    };
    CHECK_THROWS_AS(execute(write), kruxos::ProxyError);
    rig.host.on_request = before;
  }
  emu::Message* last() {
    auto& messages = rig.channel(kA).messages;
    return messages.empty() ? nullptr : &messages.rbegin()->second;
  }
};

inline Written reaction(const std::string& operation, const std::string& ts, const std::string& name) {
  Written write;
  write.operation = operation;
  write.params = ObjectWriter().text("channel", kA).text("ts", ts).text("reaction", name).done();
  return write;
}

inline kruxos::testing::FakeAnswer refusal(const std::string& name) {
  return {200, R"({"ok":false,"error":")" + name + "\"}", {}, {}, "", -1};
}

}  // namespace slack
