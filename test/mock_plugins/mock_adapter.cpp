// An adapter whose every answer, delay, error and crash is scripted in the file beside it: NAME.so reads
// NAME.mock.json. It names itself as its script says, so that it takes the place of any service's adapter.
#include <dlfcn.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <kruxos/adapter.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "script.hpp"

namespace mock {
namespace {

/// Of this library's own file. Loaded before anything else of it runs; null when it cannot be used.
std::unique_ptr<Script> the_script;
std::string the_problem;

Script& script() {
  if (!the_script) throw kruxos::ProxyError(kruxos::ErrorKind::kInternal, the_problem).no_effect();
  return *the_script;
}

kruxos::ErrorKind kind_of(const std::string& status) {
  using Kind = kruxos::ErrorKind;
  static const std::pair<const char*, Kind> kinds[] = {{"auth", Kind::kAuth},
                                                       {"rate_limited", Kind::kRateLimited},
                                                       {"network", Kind::kNetwork},
                                                       {"refused", Kind::kRefused},
                                                       {"invalid", Kind::kInvalid},
                                                       {"storage", Kind::kStorage},
                                                       {"cancelled", Kind::kCancelled},
                                                       {"unsupported", Kind::kUnsupported},
                                                       {"internal", Kind::kInternal},
                                                       {"timeout", Kind::kTimeout},
                                                       {"not_found", Kind::kNotFound},
                                                       {"unavailable", Kind::kUnavailable},
                                                       {"cursor_expired", Kind::kCursorExpired},
                                                       {"conflict", Kind::kConflict}};
  for (const auto& [name, kind] : kinds) {
    if (status == name) return kind;
  }
  return Kind::kInternal;
}

void crash(const std::string& how) {
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "abort") std::abort();
  if (how == "exit") std::_Exit(3);
  throw std::runtime_error("The mock throws, as its script says.");
}

/// Real time, too.
void say(const kruxos::Call& call, const std::vector<Saying>& says) {
  using Level = kruxos::TellLevel;
  for (const auto& one : says) {
    std::this_thread::sleep_for(std::chrono::milliseconds(one.delay_ms));
    if (!one.message) {
      call.progress(one.done, one.total);
      continue;
    }
    const auto& level = one.level;
    call.tell(level == "debug"   ? Level::kDebug
              : level == "warn"  ? Level::kWarn
              : level == "error" ? Level::kError
                                 : Level::kInfo,
              *one.message);
  }
}

std::vector<std::string> can_ask(const kruxos::Call& call) {
  using kruxos::Ask;
  std::vector<std::string> names;
  for (const auto& [what, name] : {std::pair(Ask::kForm, "form"), std::pair(Ask::kUrl, "url"),
                                   std::pair(Ask::kModel, "model"), std::pair(Ask::kRoots, "roots")}) {
    if (call.can_ask(what)) names.emplace_back(name);
  }
  return names;
}

/// Real time, in steps, so that a cancelled call comes back: the delay is the mock's, not the host's clock.
void wait(const kruxos::Call& call, const Act& act) {
  constexpr auto step = std::chrono::milliseconds(5);
  for (std::int64_t left = act.delay_ms; left > 0 && !call.cancelled(); left -= step.count())
    std::this_thread::sleep_for(step);
  while (act.hang && (act.deaf || !call.cancelled())) std::this_thread::sleep_for(step);
  call.throw_if_cancelled();
}

/// A process of its own may write no file: the host writes this one, which takes such lines of a mock's log apart from
/// others (host/runner/mock_journal.hpp). A line of the log has room for a piece.
void journal_by_log(const kruxos::Host& host, const std::string& line) {
  constexpr std::size_t kPiece = 4096;
  static std::mutex whole;
  const std::lock_guard lock(whole);
  for (std::size_t at = 0; at < line.size(); at += kPiece) {
    const bool last = at + kPiece >= line.size();
    host.log(KRUX_LOG_ERROR, std::string("kruxos-mock-journal") + (last ? "." : "+") + line.substr(at, kPiece));
  }
}

/// Does what the script says, and returns its answer, or `otherwise` where it names none.
std::string perform(const kruxos::Host& host, const kruxos::Call& call, const Asked& asked,
                    const std::string& otherwise) {
  const auto act = script().act_on(asked);
  if (const auto problem = script().take_problem(); !problem.empty())
    host.log(KRUX_LOG_WARN, "The script of before stays in use: " + problem);
  const auto answer = act.answer.value_or(otherwise);
  const bool acts = asked.call == "execute_write" || asked.call == "rollback";
  const bool succeeds = !act.error && act.crash.empty() && !act.hang;
  if (acts) {
    const auto line = script().note(asked, act, act.effect.value_or(succeeds), answer);
    if (line) journal_by_log(host, *line);
  }
  say(call, act.says);
  wait(call, act);
  if (!act.questions_json.empty()) throw kruxos::InputRequired(act.questions_json).state(act.state);
  if (!act.crash.empty()) crash(act.crash);
  if (!act.error) return answer;
  auto error = kruxos::ProxyError(kind_of(act.error->status), act.error->message);
  error.type(act.error->type).retry_after_ms(act.error->retry_after_ms);
  if (act.error->no_effect) error.no_effect();
  throw error;
}

std::string text_of(const Json& object, const char* name, const char* otherwise = "") {
  const auto at = object.FindMember(name);
  return at != object.MemberEnd() && at->value.IsString() ? at->value.GetString() : otherwise;
}

std::int64_t number_of(const Json& object, const char* name) {
  const auto at = object.FindMember(name);
  return at != object.MemberEnd() && at->value.IsInt64() ? at->value.GetInt64() : 0;
}

kruxos::EffectFound found_of(const std::string& answer) {
  rapidjson::Document said;
  said.Parse(answer.c_str(), answer.size());
  const auto word = said.IsObject() ? text_of(said, "found") : std::string();
  if (word == "absent") return kruxos::EffectFound::absent();
  if (word == "disproved") return kruxos::EffectFound::disproved();
  if (word == "cannot_tell") return kruxos::EffectFound::cannot_tell();
  return kruxos::EffectFound::found(answer);
}

class MockAdapter final : public kruxos::SyncAdapter,
                          public kruxos::ReadAdapter,
                          public kruxos::WriteExecutor,
                          public kruxos::RollbackCapable,
                          public kruxos::AccountAdapter {
 public:
  MockAdapter(kruxos::Host host, const kruxos::Account&) : host_(host) { script(); }

  static kruxos::Description describe() {
    kruxos::Description description;
    description.acts_by_http = false;
    description.mock = true;
    const auto collections = script().part("collections");
    if (!collections.IsArray()) return description;
    for (const auto& one : collections.GetArray()) {
      kruxos::Collection collection;
      collection.name = text_of(one, "name");
      collection.version = std::max<std::int64_t>(number_of(one, "version"), 1);
      collection.order =
          text_of(one, "order", "time") == std::string("key") ? kruxos::Order::kKey : kruxos::Order::kTime;
      collection.searchable = one.HasMember("searchable") && one["searchable"].IsTrue();
      if (one.HasMember("fields") && one["fields"].IsArray()) {
        for (const auto& field : one["fields"].GetArray())
          collection.fields.push_back({field.IsString() ? field.GetString() : "", kruxos::FieldType::kText});
      }
      description.collections.push_back(std::move(collection));
    }
    return description;
  }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    return sync(call, store, "full_sync");
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
    return sync(call, store, "incremental_sync");
  }

  std::string read(const kruxos::Call& call, const kruxos::Reader&, std::string_view capability,
                   std::string_view params) override {
    const auto answer = perform(host_, call,
                                {"read", std::string(capability), "", std::string(params),
                                 std::string(call.answers_json()), std::string(call.state()), can_ask(call)},
                                "");
    if (!answer.empty()) return answer;
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported,
                             "The mock's script has no rule for a read of " + std::string(capability) + ".")
        .no_effect();
  }
  std::string resolve(const kruxos::Call& call, const kruxos::Reader&, std::string_view operation,
                      std::string_view params) override {
    return perform(host_, call, {"resolve", std::string(operation), "", std::string(params)}, std::string(params));
  }

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return perform(host_, call, asked_of("execute_write", write), R"({"status":"ok"})");
  }
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    const auto known = script().effect_of(std::string(write.write_id));
    return found_of(perform(host_, call, asked_of("find_effect", write), known.value_or(R"({"found":"absent"})")));
  }

  bool supports_rollback(std::string_view operation) override {
    const auto undoable = script().part("undoable");
    if (!undoable.IsArray()) return true;
    for (const auto& name : undoable.GetArray()) {
      if (name.IsString() && operation == name.GetString()) return true;
    }
    return false;
  }
  std::string create_rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return perform(host_, call, asked_of("create_rollback_point", write), "{}");
  }
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    return perform(host_, call, asked_of("rollback", request), R"({"status":"ok"})");
  }
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    const auto known = script().effect_of(std::string(request.rollback_id));
    return found_of(perform(host_, call, asked_of("find_rollback", request), known.value_or(R"({"found":"absent"})")));
  }

  kruxos::Identity verify(const kruxos::Call& call) override {
    perform(host_, call, {"verify", "", "", ""}, "{}");
    const auto account = script().part("account");
    kruxos::Identity identity{"mock", "Mock", std::nullopt, ""};
    if (!account.IsObject()) return identity;
    identity.account_id = text_of(account, "account_id", "mock");
    identity.display_name = text_of(account, "display_name", "Mock");
    identity.principal = text_of(account, "principal");
    if (account.HasMember("scopes") && account["scopes"].IsArray()) {
      identity.scopes.emplace();
      for (const auto& scope : account["scopes"].GetArray())
        identity.scopes->emplace_back(scope.IsString() ? scope.GetString() : "");
    }
    return identity;
  }
  void revoke(const kruxos::Call& call) override { perform(host_, call, {"revoke", "", "", ""}, "{}"); }

 private:
  static Asked asked_of(const char* call, const kruxos::BufferedWrite& write) {
    return {call, std::string(write.operation), std::string(write.write_id), std::string(write.params_json)};
  }
  static Asked asked_of(const char* call, const kruxos::RollbackRequest& request) {
    return {call, std::string(request.operation), std::string(request.rollback_id), std::string(request.params_json)};
  }

  /// The script's records, all in one pass; what it no longer has is swept.
  kruxos::SyncStep sync(const kruxos::Call& call, kruxos::SyncStore& store, const char* name) const {
    perform(host_, call, {name, "", "", ""}, "{}");
    const auto records = script().part("records");
    if (records.IsArray()) {
      for (const auto& one : records.GetArray()) {
        if (!one.IsObject() || !one.HasMember("json")) continue;
        store.put(record_of(one));
      }
      store.commit();
    }
    return kruxos::SyncStep::done();
  }
  static kruxos::Record record_of(const Json& one) {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    one["json"].Accept(writer);
    kruxos::Record record;
    record.collection = text_of(one, "collection");
    record.id = text_of(one, "id");
    record.json = std::string(buffer.GetString(), buffer.GetSize());
    record.text = text_of(one, "text");
    record.order_key = text_of(one, "order_key");
    record.order_ms = number_of(one, "order_ms");
    record.scope = text_of(one, "scope");
    if (one.HasMember("fields") && one["fields"].IsObject()) {
      for (const auto& field : one["fields"].GetObject())
        record.fields.emplace_back(field.name.GetString(),
                                   std::string(field.value.IsString() ? field.value.GetString() : ""));
    }
    return record;
  }

  const kruxos::Host host_;
};

/// Room for what the script says; the host reads it after the constructor below has run.
char service_name[64], prefix_name[64], version_text[64];

void keep(char (&room)[64], const std::string& text) {
  std::strncpy(room, text.c_str(), sizeof room - 1);
}

std::filesystem::path own_file() {
  Dl_info info{};
  if (dladdr(&service_name, &info) == 0 || !info.dli_fname) return {};
  return info.dli_fname;
}

struct AtLoad {
  AtLoad() {
    try {
      auto file = own_file();
      file.replace_extension(".mock.json");
      the_script = std::make_unique<Script>(file);
      keep(service_name, the_script->service());
      keep(prefix_name, the_script->prefix());
      keep(version_text, the_script->version());
    } catch (const std::exception& error) {
      the_problem = error.what();
      keep(service_name, "mock");
      keep(prefix_name, "mock");
      keep(version_text, "0.0.0");
    }
  }
} at_load;

}  // namespace
}  // namespace mock

extern "C" {
KRUX_EXPORT extern const krux_plugin_entry KRUX_ENTRY;
const krux_plugin_entry KRUX_ENTRY{KRUX_MAGIC,
                                   sizeof(krux_plugin_entry),
                                   KRUX_ABI_MINOR,
                                   0,
                                   mock::service_name,
                                   mock::prefix_name,
                                   mock::version_text,
                                   &kruxos::detail::describe<mock::MockAdapter>,
                                   &kruxos::detail::create<mock::MockAdapter>};
}
