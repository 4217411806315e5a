// An adapter that uses all that it is lent, and misbehaves on demand: its capabilities and operations say how. Releases
// of the boundary keep it as they knew it (test/golden).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <kruxos/adapter.hpp>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

std::atomic<bool> door_open{false};  // of one process: the tests close it again
std::atomic<int> waiting{0}, alive{0};

/// Hangs without a look at the call, until a test opens the door.
void hang() {
  ++waiting;
  while (!door_open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --waiting;
}

class MockAdapter final : public kruxos::SyncAdapter,
                          public kruxos::ReadAdapter,
                          public kruxos::WriteExecutor,
                          public kruxos::RollbackCapable,
                          public kruxos::CleanupCapable,
                          public kruxos::AccountAdapter {
 public:
  MockAdapter(kruxos::Host host, const kruxos::Account& account) : host_(host), account_(account) {
    if (account.config_json.find("\"throw\"") != std::string::npos) {
      throw kruxos::ProxyError(kruxos::ErrorKind::kAuth, "The token is no good.");
    }
    if (account.config_json.find("\"hang\"") != std::string::npos) hang();
    ++alive;
  }
  ~MockAdapter() { --alive; }

  static kruxos::Description describe() {
    return {{{"items",
              1,
              kruxos::Order::kTime,
              true,
              {{"owner", kruxos::FieldType::kText}, {"size", kruxos::FieldType::kInteger}},
              {},
              true,
              {{"subject"}, {"sender", true}}}},
            R"({"type":"object","additionalProperties":false,"properties":{"create":{"enum":["throw","hang"]}}})"};
  }

  kruxos::SyncStep full_sync(const kruxos::Call&, kruxos::SyncStore& store) override {
    kruxos::Record record;
    record.collection = "items";
    record.id = "i1";
    record.json = R"({"id":"i1"})";
    record.text = "hello";
    record.order_ms = 5;
    record.fields = {{"owner", std::string("ann")}, {"size", std::int64_t{7}}};
    store.put(record);
    store.set_cursor("page", "2");
    store.commit();
    store.report_failure("c1", kruxos::ErrorKind::kAuth, "not a member");
    return kruxos::SyncStep::wait(1500).with_progress(3, 2);
  }

  kruxos::SyncStep incremental_sync(const kruxos::Call&, kruxos::SyncStore& store, std::int64_t last_sync_ms) override {
    kruxos::Record record;
    record.collection = "items";
    record.id = "i2";
    record.json = last_sync_ms == 1 ? "not json" : "{}";
    if (last_sync_ms == 2) record.fields = {{"colour", std::string("red")}};
    if (last_sync_ms == 3) record.text = "bad \xff utf-8";
    if (last_sync_ms == 4) return {99, 0, 0, 0, 0};
    if (last_sync_ms == 5) throw kruxos::ProxyError(kruxos::ErrorKind::kCursorExpired, "gone");
    if (last_sync_ms == 6) return tidy(store);
    if (last_sync_ms == 9) return put_and_tell(store);
    if (last_sync_ms == 10) store.erase_blob("items", "i1", "raw");
    if (last_sync_ms == 11) record.tag("red").tag("2").named_text("subject", "Hello").named_text("subject", "again");
    if (last_sync_ms == 12) record.tag(std::string(257, 't'));
    if (last_sync_ms == 13) record.named_text("subject", std::string(1 << 20, 's')).named_text("sender", "x");
    if (last_sync_ms == 7) store.keep_text("items", "i1", "kept by a sync");
    if (last_sync_ms == 8) {
      record.json = "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}";
      store.put(record);
      record.id = std::string(5000, 'i');
      record.json = "{}";
      record.text = std::string(2 << 20, 'x');
    }
    store.put(record);
    return kruxos::SyncStep::done(store.cursor("page").value_or("") == "2" ? 42 : 0);
  }

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params) override {
    if (capability == "mock.echo") return std::string(params);
    if (capability == "mock.whose") return "{\"agent\":\"" + std::string(call.agent()) + "\"}";
    if (capability == "mock.account")
      return "{\"id\":\"" + account_.account_id + "\",\"scopes\":" + account_.scopes_json + "}";
    if (capability == "mock.own")
      return "{\"base_url\":\"" + account_.base_url + "\",\"settings\":" + account_.settings_json + "}";
    if (capability == "mock.search") return search(call);
    if (capability == "mock.put") return put_fetched(reader, params);
    if (capability == "mock.throw")
      throw kruxos::ProxyError(kruxos::ErrorKind::kNotFound, "no \x1b[31m thing").type("ThingNotFound");
    if (capability == "mock.throw_exception") throw std::runtime_error("a defect");
    if (capability == "mock.throw_number") throw 7;
    if (capability == "mock.throw_status") throw kruxos::ProxyError(static_cast<kruxos::ErrorKind>(77), "odd");
    if (capability == "mock.garbage") return "{\"a\":";
    if (capability == "mock.array") return "[1]";
    if (capability == "mock.empty") return "";
    if (capability == "mock.nul") return std::string("{\"a\":\"\0\"}", 9);
    if (capability == "mock.bad_utf8") return "{\"a\":\"\xff\"}";
    if (capability == "mock.deep") return "{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
    if (capability == "mock.huge") return "{\"a\":\"" + std::string(9 << 20, 'x') + "\"}";
    if (capability == "mock.hang") {
      hang();
      return "{\"late\":true}";
    }
    if (capability == "mock.count") {
      return "{\"waiting\":" + std::to_string(waiting) + ",\"alive\":" + std::to_string(alive) + "}";
    }
    if (capability == "mock.open" || capability == "mock.close") {
      door_open = capability == "mock.open";
      return "{}";
    }
    if (capability == "mock.log") {
      host_.log(99, std::string("line\n\x1b[2J"));
      return "{}";
    }
    if (capability == "mock.ask") return ask(call);
    if (capability == "mock.query") return query(reader);
    if (capability == "mock.find_tagged") return find_tagged(reader);
    if (capability == "mock.kept") return kept(call, reader);
    if (capability == "mock.fetch") {
      const bool there = reader.keep("items", "i1", "body", std::string(40, 'b'), "kept by a read");
      return std::string("{\"there\":") + (there ? "true" : "false") + "}";
    }
    if (capability == "mock.cancelled") return call.cancelled() ? "{\"cancelled\":true}" : "{\"cancelled\":false}";
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported, "There is no such capability.");
  }

  /// Tells how far it is, then asks, until it has answers.
  static std::string ask(const kruxos::Call& call) {
    call.progress(1, 4, "a\x1b[2J quarter");
    call.tell(kruxos::TellLevel::kWarn, "careful");
    if (!call.answers_json().empty())
      return "{\"answers\":" + std::string(call.answers_json()) + ",\"state\":\"" + std::string(call.state()) + "\"}";
    kruxos::InputRequired input;
    input.roots("where").state("page 2");
    if (call.can_ask(kruxos::Ask::kForm))
      input.form("who", "Say \"who\":", R"({"type":"object","properties":{"name":{"type":"string"}}})");
    throw input;
  }

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (write.operation == "mock.garbage") return "oops";
    if (write.operation == "mock.hang") hang();
    if (write.operation == "mock.note") {
      call.remember("{\"n\":1}");
      return "{}";
    }
    if (write.operation == "mock.upload") return upload(call, write.params_json);
    if (write.operation == "mock.none") throw kruxos::ProxyError(kruxos::ErrorKind::kRefused, "no").no_effect();
    kruxos::HttpRequest request;
    request.method = "POST";
    request.url = "things";
    request.body = write.params_json;
    if (write.operation == "mock.header") request.headers = {{"authorization", "mine"}};
    if (write.operation == "mock.stream") {
      request.body.clear();
      request.body_length = 3;
      request.body_source = [sent = false](char* buffer, std::size_t) mutable -> std::int64_t {
        if (std::exchange(sent, true)) return 0;
        std::string_view("abc").copy(buffer, 3);
        return 3;
      };
    }
    const auto result = host_.http().send(call, request);
    if (write.operation == "mock.claim_none")
      throw kruxos::ProxyError(kruxos::ErrorKind::kRefused, "claimed").no_effect();
    if (write.operation == "mock.many") return many(call);
    if (write.operation == "mock.parts") return parts(call, write);
    return "{\"status\":" + std::to_string(result.or_throw().status) + ",\"id\":\"" + std::string(write.write_id) +
           "\"}";
  }

  kruxos::EffectFound find_effect(const kruxos::Call&, const kruxos::BufferedWrite& write) override {
    if (write.operation == "mock.absent") return kruxos::EffectFound::absent();
    if (write.operation == "mock.disproved") return kruxos::EffectFound::disproved();
    if (write.operation == "mock.odd") return {42, "{}", {}};
    if (write.operation == "mock.unclear") return kruxos::EffectFound::cannot_tell("The history is hidden.");
    if (write.operation == "mock.long") return kruxos::EffectFound::cannot_tell(std::string(5000, '\xff'));
    if (write.operation == "mock.garbage") return kruxos::EffectFound::found("oops");
    return kruxos::EffectFound::found(std::string(write.note_json));
  }

  bool supports_rollback(std::string_view operation) override { return operation == "mock.note"; }
  std::string create_rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (write.operation == "mock.huge") return "{\"a\":\"" + std::string(65 * 1024, 'x') + "\"}";
    if (write.operation == "mock.note") call.remember("{}");
    return "{\"before\":1}";
  }
  std::string rollback(const kruxos::Call&, const kruxos::RollbackRequest& request) override {
    if (!request.force) throw kruxos::ProxyError(kruxos::ErrorKind::kConflict, "changed since").no_effect();
    return "{\"undone\":" + std::string(request.point_json) + "}";
  }
  kruxos::EffectFound find_rollback(const kruxos::Call&, const kruxos::RollbackRequest&) override {
    return kruxos::EffectFound::found("{}");
  }

  void clean_up(const kruxos::Call&, const kruxos::BufferedWrite& write) override {
    const bool is_whole = write.operation == "mock.send" && write.write_id == "w_1" && write.note_json == "{\"n\":1}";
    if (!is_whole) throw kruxos::ProxyError(kruxos::ErrorKind::kConflict, "changed since").no_effect();
  }

  kruxos::Identity verify(const kruxos::Call&) override {
    return {"T1", "Team \x1b[1m", std::vector<std::string>{"a", "b"}};
  }
  void revoke(const kruxos::Call&) override {}

 private:
  kruxos::SyncStep put_and_tell(kruxos::SyncStore& store) const {
    kruxos::Record record;
    record.collection = "items";
    std::string all;
    for (const auto* json : {"{}", "oops"}) {
      record.id = json;
      record.json = json;
      const auto put = store.try_put(record);
      all += put.taken ? "taken;" : put.why + ";";
    }
    record.json = "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}";
    store.report_failure("puts", kruxos::ErrorKind::kInvalid, all + store.try_put(record).why);
    return kruxos::SyncStep::done();
  }

  std::string put_fetched(const kruxos::Reader& reader, std::string_view id) const {
    kruxos::Record record;
    record.collection = "items";
    record.id = id;
    record.json = id == "large" ? "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}" : "{\"fetched\":true}";
    if (id == "undeclared") record.fields = {{"colour", std::string("red")}};
    const auto put = reader.put(record);
    return std::string("{\"taken\":") + (put.taken ? "true" : "false") + ",\"why\":\"" + put.why + "\"}";
  }

  std::string search(const kruxos::Call& call) const {
    kruxos::HttpRequest request;
    request.method = "POST";
    request.url = "graphql";
    request.body = R"({"query":"{a}"})";
    request.headers = {{"Content-Type", "application/json"}};
    request.only_reads = true;
    return "{\"status\":" + std::to_string(host_.http().send(call, request).or_throw().status) + "}";
  }

  std::string upload(const kruxos::Call& call, std::string_view id) const {
    std::string buffer(300'000, '\0');
    std::size_t size = 0, got = 0;
    char last = ' ';
    while ((got = host_.uploads().read(call, id, size, buffer.data(), buffer.size())) > 0) {
      size += got;
      last = buffer[got - 1];
    }
    return "{\"size\":" + std::to_string(size) + ",\"last\":\"" + last + "\"}";
  }

  std::string many(const kruxos::Call& call) {
    std::vector<kruxos::HttpRequest> requests(7);
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].url = "many/" + std::to_string(i);
    std::string all;
    for (const auto& result : host_.http().send_many(call, requests)) all += result.or_throw().body + " ";
    return "{\"all\":\"" + all + "\"}";
  }

  /// An answer in parts, its headers, and what the call knows of its attempt.
  std::string parts(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
    kruxos::HttpRequest request;
    request.url = "parts";
    request.headers = {{"Accept", "text/plain"}};
    std::size_t bytes = 0;
    const auto result = host_.http().send(call, request, [&](std::string_view part) {
      bytes += part.size();
      return true;
    });
    const auto* type = result.or_throw().header("content-type");
    return "{\"bytes\":" + std::to_string(bytes) + ",\"type\":\"" + (type ? *type : "") +
           "\",\"attempt\":" + std::to_string(call.attempt()) + ",\"write\":\"" + std::string(call.write_id()) +
           "\",\"of\":" + std::to_string(write.attempt) + ",\"made\":" + std::to_string(write.created_at_ms) +
           ",\"first\":" + std::to_string(write.first_attempt_at_ms) + "}";
  }

  /// What a sync does besides putting.
  static kruxos::SyncStep tidy(kruxos::SyncStore& store) {
    std::string bytes = "blob";
    store.put_blob("items", "i1", "raw", 4, [&](char* buffer, std::size_t capacity) {
      const auto taken = bytes.copy(buffer, std::min<std::size_t>(capacity, 3));
      bytes.erase(0, taken);
      return static_cast<std::int64_t>(taken);
    });
    store.sweep("items", "s", 7, 1, 9);
    store.erase("items", "i2");
    store.set_cursor("page", "");
    store.commit();
    store.report_ok("c1");
    return kruxos::SyncStep::more();
  }

  static std::string kept(const kruxos::Call& call, const kruxos::Reader& reader) {
    const auto record = reader.get("items", "i1");
    const auto blob = reader.blob("items", "i1", "raw");
    const bool timely = call.now_ms() > 0 && call.now_ms() < call.deadline_ms();
    return "{\"record\":" + record.value_or("null") + ",\"blob\":\"" + blob.value_or("none") +
           "\",\"other\":" + (reader.get("items", "i9") ? "true" : "false") +
           ",\"timely\":" + (timely ? "true" : "false") + "}";
  }

  static std::string query(const kruxos::Reader& reader) {
    kruxos::Query query;
    query.collection = "items";
    query.where =
        kruxos::all_of({kruxos::contains_text("hell"), kruxos::none_of({kruxos::field_eq("size", std::int64_t{9})})});
    std::string ids;
    const auto result = reader.query(query, [&](const kruxos::Row& row) {
      ids += row.id;
      return ids.size() < 4;
    });
    return "{\"ids\":\"" + ids + "\",\"total\":" + std::to_string(result.total) + "}";
  }

  static std::string find_tagged(const kruxos::Reader& reader) {
    kruxos::Query query;
    query.collection = "items";
    query.where = kruxos::all_of({kruxos::has_tag("red"), kruxos::text_of("subject", "hell")});
    return "{\"total\":" + std::to_string(reader.query(query, [](const auto&) { return true; }).total) + "}";
  }

  kruxos::Host host_;
  kruxos::Account account_;
};

}  // namespace

KRUXOS_PLUGIN(MockAdapter, "mock", "mock", "1.2.0");
