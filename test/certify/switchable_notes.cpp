// An adapter of the example's service of notes with one defect of choice: its configuration says which. Without one it
// is in order.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>
#include <set>
#include <string>
#include <thread>

namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::integer_of;

rapidjson::Document parse(std::string_view text) {
  return kruxos::kit::parse_object(text, "The notes service answered with something that is no JSON object.");
}

std::string text_of(const rapidjson::Value& object, std::string_view name) {
  return std::string(kruxos::kit::text_of(object, name));
}

/// {"name": "value", ...} of texts.
std::string object(std::initializer_list<std::pair<const char*, std::string_view>> members) {
  kruxos::kit::ObjectWriter writer;
  for (const auto& [name, value] : members) writer.text(name, value);
  return writer.done();
}

constexpr char kCollection[] = "notes";

/// A moment, so that calls which run side by side do meet.
void linger() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::string note_json(const rapidjson::Value& note) {
  return object({{"id", text_of(note, "id")}, {"text", text_of(note, "text")}, {"marker", text_of(note, "marker")}});
}

class SwitchableNotes final : public kruxos::SyncAdapter,
                              public kruxos::ReadAdapter,
                              public kruxos::WriteExecutor,
                              public kruxos::RollbackCapable,
                              public kruxos::AccountAdapter {
 public:
  SwitchableNotes(kruxos::Host host, const kruxos::Account& account)
      : http_(host.http()), defect_(text_of(parse(account.config_json), "defect")) {
    if (has("leaves_thread")) std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
    if (has("leaves_descriptor") && ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) std::abort();
  }

  static kruxos::Description describe() {
    return {{{kCollection, 1, kruxos::Order::kTime, true, {}}},
            R"({"type":"object","additionalProperties":false,"properties":{"defect":{"type":"string"}}})"};
  }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    return page(call, store, 0);
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t since) override {
    // What else is wrong shows where nothing comes twice, as it does within a millisecond of the service's.
    if (!defect_.empty() && !has("sweeps_never") && !has("stops_at_odd_words"))
      return page(call, store, since > 0 ? since : 1);
    return page(call, store, std::max(std::atoll(store.cursor("since").value_or("1").c_str()), 1LL));
  }

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override {
    if (has("exits_in_read")) ::_exit(0);
    if (has("fetches_in_read")) ask(call, get("me"));
    if (has("answers_text")) return "nothing here";
    if (has("answers_other_types")) return R"({"notes":{},"note":[],"total":"many"})";
    if (has("answers_differently")) return R"({"notes":[],"note":{},"total":)" + std::to_string(++calls_) + "}";
    if (has("answers_anything")) return R"({"notes":[],"note":{},"total":0})";
    if (has("reads_alone")) alone();
    const auto params = parse(params_json);
    if (capability == "notes.read") {
      const auto json = reader.get(kCollection, text_of(params, "note_id"));
      if (!json) throw ProxyError(ErrorKind::kNotFound, "There is no such note.");
      return "{\"note\":" + *json + "}";
    }
    if (capability != "notes.search") throw ProxyError(ErrorKind::kUnsupported, "There is no such capability.");
    return "{\"notes\":[],\"total\":0}";
  }
  std::string resolve(const kruxos::Call&, const kruxos::Reader&, std::string_view, std::string_view params) override {
    if (!has("resolves_on")) return std::string(params);
    return object({{"text", text_of(parse(params), "text") + "!"}});
  }

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    if (has("crashes_on_params")) crash_unless(write.params_json.starts_with("{\"text\":\"hello"));
    if (write.operation != "notes.create") throw ProxyError(ErrorKind::kUnsupported, "Unknown operation.").no_effect();
    const auto body = object({{"text", text_of(parse(write.params_json), "text")}, {"marker", write.write_id}});
    auto result = http_.send(call, post("notes", body));
    if (has("sends_again") && !result.ok()) result = http_.send(call, post("notes", body));
    while (has("waits_for_ever") && !result.ok()) linger();
    if (has("believes_it") && !result.ok()) return "{}";
    if (has("denies_it") && !result.ok()) throw ProxyError(ErrorKind::kNetwork, "No answer.").no_effect();
    const auto& response = result.or_throw();
    if (has("denies_server_errors") && response.status >= 500)
      throw ProxyError(ErrorKind::kUnavailable, "The service failed.").no_effect();
    check(response);
    if (has("crashes_on_nonsense")) crash_unless(response.body.starts_with("{\"id\""));
    return note_json(parse(response.body));
  }
  EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    const auto text = text_of(parse(write.params_json), "text");
    const bool by_text = has("finds_its_twin");
    const auto result =
        http_.send(call, get(by_text ? "notes?limit=1000" : "notes?marker=" + std::string(write.write_id)));
    if (has("absent_unseen") && (!result.ok() || result.response.status != 200)) return EffectFound::absent();
    if (has("always_found")) return EffectFound::found("{}");
    check(result.or_throw());
    const auto page = parse(result.response.body);
    for (const auto& note : notes_of(page).GetArray()) {
      need_id(note);
      const bool same = by_text ? text_of(note, "text") == text : text_of(note, "marker") == write.write_id;
      if (same && !has("never_found")) return EffectFound::found(has("finds_other_result") ? "{}" : note_json(note));
    }
    return EffectFound::absent();
  }

  bool supports_rollback(std::string_view operation) override {
    return operation == "notes.create" && !has("cannot_undo");
  }
  std::string create_rollback_point(const kruxos::Call&, const kruxos::BufferedWrite&) override { return "{}"; }
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& what) override {
    const auto made = parse(what.result_json);
    const auto address = "notes/" + text_of(made, "id");
    if (has("undoes_nothing")) return "{}";
    if (!what.force && !has("undoes_blindly")) {
      const auto now = http_.send(call, get(address)).or_throw();
      if (now.status == 404) return "{}";
      check(now);
      if (text_of(parse(now.body), "text") != text_of(made, "text"))
        throw ProxyError(ErrorKind::kConflict, "It was changed.").no_effect();
    }
    auto request = get(address);
    request.method = "DELETE";
    const auto done = http_.send(call, request);
    if (has("denies_undoing") && !done.ok()) throw ProxyError(ErrorKind::kNetwork, "No answer.").no_effect();
    if (has("denies_undoing_5xx") && done.ok() && done.response.status >= 500)
      throw ProxyError(ErrorKind::kUnavailable, "The service failed.").no_effect();
    check(done.or_throw());
    return "{}";
  }
  EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& what) override {
    const auto result = http_.send(call, get("notes/" + text_of(parse(what.result_json), "id")));
    if (!result.ok()) return EffectFound::cannot_tell();
    return result.response.status == 404   ? EffectFound::found("{}")
           : result.response.status == 200 ? EffectFound::absent()
                                           : EffectFound::cannot_tell();
  }

  kruxos::Identity verify(const kruxos::Call& call) override {
    while (has("verifies_for_ever") && call.now_ms() > 0) linger();
    const auto answer = http_.send(call, get("me")).or_throw();
    if (has("names_another")) return {"acct-" + std::to_string(++rows_), "", std::nullopt, ""};
    if (has("guesses_account"))
      return {answer.body.find("acct-1") == std::string::npos ? "0" : "acct-1", "", std::nullopt, ""};
    if (has("refusal_is_network") && answer.status == 401) throw ProxyError(ErrorKind::kNetwork, "It failed.");
    check(answer);
    const auto me = parse(answer.body);
    if (text_of(me, "id").empty()) throw ProxyError(ErrorKind::kNetwork, "The answer names no account.");
    return {text_of(me, "id"), text_of(me, "name"), std::nullopt, ""};
  }
  void revoke(const kruxos::Call& call) override {
    if (has("revokes_nothing")) return;
    auto request = get("token");
    request.method = "DELETE";
    const auto answer = http_.send(call, request);
    if (has("revokes_always")) return;
    check(answer.or_throw());
  }

 private:
  bool has(std::string_view defect) const { return defect_ == defect; }
  static void crash_unless(bool fine) {
    if (!fine) std::abort();
  }
  void alone() {
    if (++running_ > 1) {
      --running_;
      throw ProxyError(ErrorKind::kInternal, "Somebody else reads.");
    }
    linger();
    --running_;
  }

  static kruxos::HttpRequest get(std::string url) {
    kruxos::HttpRequest request;
    request.url = std::move(url);
    return request;
  }
  static kruxos::HttpRequest post(std::string url, std::string body) {
    auto request = get(std::move(url));
    request.method = "POST";
    request.body = std::move(body);
    return request;
  }
  void check(const kruxos::HttpResponse& response) const {
    const auto words = has("tells_the_body") ? response.body : "HTTP " + std::to_string(response.status);
    if (response.status < 300) return;
    if (response.status == 410) throw ProxyError(ErrorKind::kCursorExpired, words);
    if (response.status == 401) throw ProxyError(ErrorKind::kAuth, words).no_effect();
    if (response.status == 429 && has("limit_is_network")) throw ProxyError(ErrorKind::kNetwork, words);
    if (response.status == 429) {
      ProxyError error(ErrorKind::kRateLimited, words);
      const auto* seconds = response.header("Retry-After");
      if (seconds && !has("forgets_retry_after")) error.retry_after_ms(std::atoll(seconds->c_str()) * 1000);
      throw error.no_effect();
    }
    if (response.status >= 500) throw ProxyError(ErrorKind::kUnavailable, words);
    throw ProxyError(response.status == 404 ? ErrorKind::kNotFound : ErrorKind::kRefused, words).no_effect();
  }
  kruxos::HttpResponse ask(const kruxos::Call& call, const kruxos::HttpRequest& request) const {
    auto response = http_.send(call, request).or_throw();
    check(response);
    return response;
  }
  static const rapidjson::Value& notes_of(const rapidjson::Document& page) {
    const auto found = page.FindMember("notes");
    if (found == page.MemberEnd() || !found->value.IsArray()) throw ProxyError(ErrorKind::kNetwork, "No notes.");
    return found->value;
  }
  static void need_id(const rapidjson::Value& note) {
    if (!note.IsObject() || text_of(note, "id").empty()) throw ProxyError(ErrorKind::kNetwork, "A note without an id.");
  }

  kruxos::SyncStep page(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t since) {
    const auto after = store.cursor("after").value_or("");
    if (has("starts_at_the_end") && !after.empty() && !began_) {  // it takes the pass for done
      store.set_cursor("after", "");
      store.commit();
      return kruxos::SyncStep::done();
    }
    began_ = true;
    const auto url = "notes?limit=2&since=" + std::to_string(since) + "&after=" + after;
    auto result = http_.send(call, get(url));
    while (has("syncs_for_ever") && !result.ok()) result = http_.send(call, get(url));
    if (has("nothing_is_empty") && (!result.ok() || result.response.status != 200))
      result.response.body = R"({"notes":[]})";
    else
      check(result.or_throw());
    if (has("crashes_on_nonsense")) crash_unless(result.response.body.starts_with("{\"notes\""));
    const auto answer = parse(result.response.body);
    if (has("skips_a_page") && !after.empty() && since == 0) return finish(store, since);
    auto generation = std::atoll(store.cursor("generation").value_or("0").c_str());
    // Above whatever was put before, also where the host has taken the cursors away.
    if (since == 0 && after.empty()) generation = std::max<long long>(generation + 1, call.now_ms());
    store.set_cursor("generation", std::to_string(generation));
    for (const auto& note : notes_of(answer).GetArray()) put(store, note, generation);
    const auto next = text_of(answer, "next");
    if (next.empty()) return finish(store, since);
    store.set_cursor("after", next);
    store.commit();
    return kruxos::SyncStep::more();
  }
  kruxos::SyncStep finish(kruxos::SyncStore& store, std::int64_t since) {
    store.set_cursor("after", "");
    store.set_cursor("since", store.cursor("newest").value_or("0"));
    if ((since == 0 || has("sweeps_always")) && !has("sweeps_never")) {
      const auto generation = std::atoll(store.cursor("generation").value_or("0").c_str());
      store.sweep(kCollection, "", since == 0 ? generation : generation + 1);
    }
    store.commit();
    return kruxos::SyncStep::done();
  }
  void put(kruxos::SyncStore& store, const rapidjson::Value& note, std::int64_t generation) {
    need_id(note);
    const auto newest =
        std::max<long long>(std::atoll(store.cursor("newest").value_or("0").c_str()), integer_of(note, "updated_ms"));
    store.set_cursor("newest", std::to_string(newest));
    const auto deleted = note.FindMember("deleted");
    if (deleted != note.MemberEnd() && deleted->value.IsBool() && deleted->value.GetBool()) {
      if (!has("keeps_deleted")) store.erase(kCollection, text_of(note, "id"));
      return;
    }
    kruxos::Record record;
    record.collection = kCollection;
    record.id = text_of(note, "id");
    record.json = note_json(note);
    if (has("counts_rows")) record.json = object({{"id", record.id}, {"seen", std::to_string(++rows_)}});
    record.order_ms = integer_of(note, "updated_ms");
    record.text = text_of(note, "text");
    if (has("stops_at_odd_words") && (record.text.size() > 1000 || record.text.find('\0') != std::string::npos))
      throw ProxyError(ErrorKind::kNetwork, "What is this?");
    record.generation = generation;
    store.put(record);
  }

  static inline std::atomic<int> rows_{0};
  kruxos::HttpClient http_;
  const std::string defect_;
  bool began_ = false;
  std::atomic<int> calls_{0}, running_{0};
};

}  // namespace

KRUXOS_PLUGIN(SwitchableNotes, "notes", "notes", "1.0.0");
