#include "notes_adapter.hpp"

#include <algorithm>
#include <cstdlib>

#include "notes_json.hpp"

namespace notes {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr char kCollection[] = "notes";
constexpr std::int64_t kDefaultPageSize = 50;

/// Milliseconds, or -1: the header is missing, or is no number of seconds within a day.
std::int64_t retry_after_ms(const kruxos::HttpResponse& response) {
  const auto* seconds = response.header("retry-after");
  if (!seconds || seconds->empty() || seconds->size() > 5) return -1;
  if (seconds->find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(*seconds) * 1000;
}

/// What the service's status says, where it says that nothing was done.
[[noreturn]] void throw_for(const kruxos::HttpResponse& response) {
  const auto status = std::to_string(response.status);
  switch (response.status) {
    case 401:
    case 403:
      throw ProxyError(ErrorKind::kAuth, "The notes service refuses the token.").no_effect();
    case 404:
      throw ProxyError(ErrorKind::kNotFound, "There is no such note.").type("NoteNotFound").no_effect();
    case 429:
      throw ProxyError(ErrorKind::kRateLimited, "The notes service asks to slow down.")
          .no_effect()
          .retry_after_ms(retry_after_ms(response));
    default:
      if (response.status >= 500)
        throw ProxyError(ErrorKind::kUnavailable, "The notes service failed with HTTP " + status + ".");
      throw ProxyError(ErrorKind::kRefused, "The notes service refused the request with HTTP " + status + ".")
          .no_effect();
  }
}

kruxos::HttpRequest request(std::string method, std::string url, std::string body = {}) {
  kruxos::HttpRequest out;
  out.method = std::move(method);
  out.url = std::move(url);
  out.body = std::move(body);
  if (!out.body.empty()) out.headers.emplace_back("Content-Type", "application/json");
  return out;
}

/// What is kept of a note: what the adapter knows, whatever else the service sends.
std::string note_json(const rapidjson::Value& note) {
  auto json =
      object({{"id", text_of(note, "id")}, {"text", text_of(note, "text")}, {"marker", text_of(note, "marker")}});
  json.pop_back();
  return json + ",\"updated_ms\":" + std::to_string(number_of(note, "updated_ms")) + "}";
}

/// A later sync is told of notes that are gone.
bool is_deleted(const rapidjson::Value& note) {
  const auto deleted = note.FindMember("deleted");
  return deleted != note.MemberEnd() && deleted->value.IsBool() && deleted->value.GetBool();
}

kruxos::Record record_of(const rapidjson::Value& note, std::int64_t generation) {
  kruxos::Record record;
  record.collection = kCollection;
  record.id = text_of(note, "id");
  record.json = note_json(note);
  record.text = text_of(note, "text");
  record.order_ms = number_of(note, "updated_ms");
  record.generation = generation;
  record.fields = {{"marker", text_of(note, "marker")}};
  return record;
}

}  // namespace

NotesAdapter::NotesAdapter(kruxos::Host host, const kruxos::Account& account) : host_(host) {
  const auto size = number_of(parse(account.config_json), "page_size");
  page_size_ = size > 0 ? size : kDefaultPageSize;
}

kruxos::Description NotesAdapter::describe() {
  return {{{kCollection, 1, kruxos::Order::kTime, true, {{"marker", kruxos::FieldType::kText}}}},
          R"({"type":"object","additionalProperties":false,
              "properties":{"page_size":{"type":"integer","minimum":1,"maximum":200}}})"};
}

kruxos::HttpResponse NotesAdapter::ask(const kruxos::Call& call, const kruxos::HttpRequest& what) const {
  auto response = host_.http().send(call, what).or_throw();
  if (response.status >= 300) throw_for(response);
  return response;
}

// --- sync: one page a step. The cursors say where the pass is, for the host may end between two steps. ---

kruxos::SyncStep NotesAdapter::sync_page(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t since_ms) {
  const auto generation_text = store.cursor("generation").value_or("1");
  const auto generation = std::strtoll(generation_text.c_str(), nullptr, 10);
  const auto after = store.cursor("after").value_or("");
  const auto response =
      ask(call, request("GET", "notes?limit=" + std::to_string(page_size_) + "&since=" + std::to_string(since_ms) +
                                   "&after=" + escaped(after)));
  const auto page = parse(response.body);
  const auto notes = page.FindMember("notes");
  if (notes == page.MemberEnd() || !notes->value.IsArray()) {
    throw ProxyError(ErrorKind::kNetwork, "The notes service's answer has no notes.");
  }
  for (const auto& note : notes->value.GetArray()) {
    if (!note.IsObject() || text_of(note, "id").empty()) {
      throw ProxyError(ErrorKind::kNetwork, "The notes service's answer has a note without an id.");
    }
    if (is_deleted(note)) {
      store.erase(kCollection, text_of(note, "id"));
    } else {
      store.put(record_of(note, generation));
    }
  }
  const auto next = text_of(page, "next");
  store.set_cursor("after", next);
  if (!next.empty()) {
    store.commit();
    return kruxos::SyncStep::more();
  }
  if (since_ms == 0) {  // a complete pass: what it did not see is gone
    store.sweep(kCollection, "", generation);
    store.set_cursor("generation", std::to_string(generation + 1));
  }
  store.commit();
  host_.log(KRUX_LOG_DEBUG, "sync pass complete");
  return kruxos::SyncStep::done();
}

kruxos::SyncStep NotesAdapter::full_sync(const kruxos::Call& call, kruxos::SyncStore& store) {
  return sync_page(call, store, 0);
}

kruxos::SyncStep NotesAdapter::incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store,
                                                std::int64_t last_sync_ms) {
  return sync_page(call, store, std::max<std::int64_t>(last_sync_ms, 1));
}

// --- read: a query on the replica; no HTTP ---

std::string NotesAdapter::read(const kruxos::Call&, const kruxos::Reader& reader, std::string_view capability,
                               std::string_view params_json) {
  const auto params = parse(params_json);
  if (capability == "notes.read") {
    const auto json = reader.get(kCollection, text_of(params, "note_id"));
    if (!json) throw ProxyError(ErrorKind::kNotFound, "There is no such note.").type("NoteNotFound");
    return "{\"note\":" + *json + "}";
  }
  if (capability != "notes.search") throw ProxyError(ErrorKind::kUnsupported, "There is no such capability.");
  kruxos::Query query;
  query.collection = kCollection;
  if (const auto term = text_of(params, "query"); !term.empty()) query.where = kruxos::contains_text(term);
  query.limit = static_cast<std::uint32_t>(number_of(params, "limit"));
  query.offset = static_cast<std::uint32_t>(number_of(params, "offset"));
  std::string notes;
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    notes.append(notes.empty() ? "" : ",").append(row.json);
    return true;
  });
  return "{\"notes\":[" + notes + "],\"total\":" + std::to_string(result.total) +
         ",\"total_is_lower_bound\":" + (result.total_is_lower_bound ? "true" : "false") +
         ",\"incomplete\":" + (result.incomplete ? "true" : "false") + "}";
}

// --- write: the marker is the write's id, so that the effect can be found again ---

std::string NotesAdapter::execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  if (write.operation != "notes.create")
    throw ProxyError(ErrorKind::kUnsupported, "There is no such operation.").no_effect();
  const auto text = text_of(parse(write.params_json), "text");
  const auto response = ask(call, request("POST", "notes", object({{"text", text}, {"marker", write.write_id}})));
  return note_json(parse(response.body));
}

kruxos::EffectFound NotesAdapter::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto page = parse(ask(call, request("GET", "notes?marker=" + escaped(write.write_id))).body);
  const auto notes = page.FindMember("notes");
  if (notes == page.MemberEnd() || !notes->value.IsArray()) return kruxos::EffectFound::cannot_tell();
  bool understood = true;
  for (const auto& note : notes->value.GetArray()) {
    if (!note.IsObject() || text_of(note, "id").empty()) {
      understood = false;  // it may be the one
    } else if (text_of(note, "marker") == write.write_id) {
      return kruxos::EffectFound::found(note_json(note));
    }
  }
  return understood ? kruxos::EffectFound::absent() : kruxos::EffectFound::cannot_tell();
}

// --- rollback: deletes the note, unless somebody has changed it since ---

bool NotesAdapter::supports_rollback(std::string_view operation) {
  return operation == "notes.create";
}

std::string NotesAdapter::create_rollback_point(const kruxos::Call&, const kruxos::BufferedWrite&) {
  return "{}";
}

std::string NotesAdapter::rollback(const kruxos::Call& call, const kruxos::RollbackRequest& what) {
  const auto made = parse(what.result_json);
  const auto address = "notes/" + escaped(text_of(made, "id"));
  if (!what.force) {
    const auto now = parse(ask(call, request("GET", address)).body);
    if (text_of(now, "text") != text_of(made, "text")) {
      throw ProxyError(ErrorKind::kConflict, "The note has been changed since it was written.").no_effect();
    }
  }
  ask(call, request("DELETE", address));
  return "{\"deleted\":true}";
}

kruxos::EffectFound NotesAdapter::find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& what) {
  const auto id = text_of(parse(what.result_json), "id");
  const auto result = host_.http().send(call, request("GET", "notes/" + escaped(id)));
  if (!result.ok()) return kruxos::EffectFound::cannot_tell();
  if (result.response.status == 404) return kruxos::EffectFound::found("{\"deleted\":true}");
  return result.response.status == 200 ? kruxos::EffectFound::absent() : kruxos::EffectFound::cannot_tell();
}

// --- account ---

kruxos::Identity NotesAdapter::verify(const kruxos::Call& call) {
  const auto me = parse(ask(call, request("GET", "me")).body);
  return {text_of(me, "id"), text_of(me, "name"), std::nullopt, ""};
}

void NotesAdapter::revoke(const kruxos::Call& call) {
  ask(call, request("DELETE", "token"));
}

}  // namespace notes

KRUXOS_PLUGIN(notes::NotesAdapter, "notes", "notes", "1.0.0");
