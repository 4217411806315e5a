#include "notes_adapter.hpp"

#include <algorithm>
#include <kruxos/kit/cursor.hpp>
#include <kruxos/kit/http.hpp>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/search.hpp>

namespace notes {
namespace {

using namespace kruxos::kit;
using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr char kCollection[] = "notes";
constexpr std::int64_t kDefaultPageSize = 50;

rapidjson::Document object(std::string_view text) {
  return parse_object(text, "The notes service answered with something that is no JSON object.");
}

/// Where a sync is: kept between its steps under these names, which a later version still reads.
struct Pass {
  std::int64_t generation = 0;  ///< of the latest complete pass, the one under way included
  std::string after{};          ///< the last note of the page before; empty between two passes
  std::int64_t since_ms = 0;    ///< what the pass under way, or the next one, asks for, by the service's clock
  std::int64_t newest_ms = 0;   ///< the latest change that was ever seen
  std::int64_t next_ms = 0;     ///< the same before the pass under way began
  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("generation", self.generation);
    visit("after", self.after);
    visit("since", self.since_ms);
    visit("newest", self.newest_ms);
    visit("next_since", self.next_ms);
  }
};

/// What is kept of a note: what the adapter knows, whatever else the service sends.
std::string note_json(const Json& note) {
  return ObjectWriter()
      .text("id", text_of(note, "id"))
      .text("text", text_of(note, "text"))
      .text("marker", text_of(note, "marker"))
      .integer("updated_ms", integer_of(note, "updated_ms"))
      .done();
}

kruxos::Record record_of(const Json& note, std::int64_t generation) {
  kruxos::Record record;
  record.collection = kCollection;
  record.id = text_of(note, "id");
  record.json = note_json(note);
  record.text = text_of(note, "text");
  record.order_ms = integer_of(note, "updated_ms");
  record.generation = generation;
  record.fields = {{"marker", std::string(text_of(note, "marker"))}};
  return record;
}

}  // namespace

NotesAdapter::NotesAdapter(kruxos::Host host, const kruxos::Account& account) : host_(host) {
  const auto size = integer_of(parse(account.config_json), "page_size");
  page_size_ = size > 0 ? size : kDefaultPageSize;
}

kruxos::Description NotesAdapter::describe() {
  return {{{kCollection, 1, kruxos::Order::kTime, true, {{"marker", kruxos::FieldType::kText}}}},
          R"({"type":"object","additionalProperties":false,
              "properties":{"page_size":{"type":"integer","minimum":1,"maximum":200}}})"};
}

kruxos::HttpResponse NotesAdapter::ask(const kruxos::Call& call, const kruxos::HttpRequest& what) const {
  auto response = host_.http().send(call, what).or_throw();
  if (is_success(response)) return response;
  auto error = error_of(response, "The notes service");
  if (response.status == 404) error.type("NoteNotFound");
  throw error;
}

// --- sync: one page a step. The cursors say where the pass is, for the host may end between two steps. ---

kruxos::SyncStep NotesAdapter::sync_page(const kruxos::Call& call, kruxos::SyncStore& store, bool everything) {
  auto pass = load_cursor<Pass>(store, "pass");
  const auto since_ms = everything ? 0 : std::max<std::int64_t>(pass.since_ms, 1);
  // What changes while the pass goes on may stand on a page that it has behind it: the next one asks for that too.
  if (pass.after.empty()) pass.next_ms = pass.newest_ms;
  // Above whatever was put before: the host takes the cursors away, this one too, where the service knows one no more.
  if (everything && pass.after.empty()) pass.generation = std::max(pass.generation + 1, call.now_ms());
  const auto response =
      ask(call, json_request("GET", "notes?limit=" + std::to_string(page_size_) + "&since=" + std::to_string(since_ms) +
                                        "&after=" + encoded(pass.after)));
  const auto page = object(response.body);
  const auto* notes = objects_of(page, "notes");
  if (!notes) throw ProxyError(ErrorKind::kUnavailable, "The notes service's answer has no notes.");
  for (const auto& note : notes->GetArray()) {
    if (text_of(note, "id").empty()) {
      throw ProxyError(ErrorKind::kUnavailable, "The notes service's answer has a note without an id.");
    }
    pass.newest_ms = std::max(pass.newest_ms, integer_of(note, "updated_ms"));
    if (flag_of(note, "deleted")) {
      store.erase(kCollection, text_of(note, "id"));
    } else {
      store.put(record_of(note, pass.generation));
    }
  }
  pass.after = text_of(page, "next");
  const bool ends = pass.after.empty();
  // A complete pass: what it did not see is gone.
  if (ends && everything) store.sweep(kCollection, "", pass.generation);
  // Not by the host's clock, which may be ahead.
  if (ends) pass.since_ms = pass.next_ms;
  save_cursor(store, "pass", pass);
  store.commit();
  if (!ends) return kruxos::SyncStep::more();
  host_.log(KRUX_LOG_DEBUG, "sync pass complete");
  return kruxos::SyncStep::done();
}

kruxos::SyncStep NotesAdapter::full_sync(const kruxos::Call& call, kruxos::SyncStore& store) {
  return sync_page(call, store, true);
}

kruxos::SyncStep NotesAdapter::incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store,
                                                std::int64_t /*last_sync_ms: by the host's clock*/) {
  return sync_page(call, store, false);
}

// --- read: a query on the replica; no HTTP ---

std::string NotesAdapter::read(const kruxos::Call&, const kruxos::Reader& reader, std::string_view capability,
                               std::string_view params_json) {
  const auto params = object(params_json);
  if (capability == "notes.read") {
    const auto json = reader.get(kCollection, text_of(params, "note_id"));
    if (!json) throw ProxyError(ErrorKind::kNotFound, "There is no such note.").type("NoteNotFound");
    return "{\"note\":" + *json + "}";
  }
  if (capability != "notes.search") throw ProxyError(ErrorKind::kUnsupported, "There is no such capability.");
  return search_page(reader, search_query(kCollection, params), "notes");
}

// --- write: the marker is the write's id, so that the effect can be found again ---

std::string NotesAdapter::execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  if (write.operation != "notes.create")
    throw ProxyError(ErrorKind::kUnsupported, "There is no such operation.").no_effect();
  const auto params = object(write.params_json);
  const auto body = ObjectWriter().text("text", text_of(params, "text")).text("marker", write.write_id).done();
  const auto response = ask(call, json_request("POST", "notes", body));
  return note_json(object(response.body));
}

kruxos::EffectFound NotesAdapter::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto page = object(ask(call, json_request("GET", "notes?marker=" + encoded(write.write_id))).body);
  const auto* notes = objects_of(page, "notes");
  if (!notes) return kruxos::EffectFound::cannot_tell();
  bool understood = true;
  for (const auto& note : notes->GetArray()) {
    if (text_of(note, "id").empty()) {
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
  const auto made = object(what.result_json);
  const auto address = "notes/" + encoded(text_of(made, "id"));
  if (!what.force) {
    const auto now = object(ask(call, json_request("GET", address)).body);
    if (text_of(now, "text") != text_of(made, "text")) {
      throw ProxyError(ErrorKind::kConflict, "The note has been changed since it was written.").no_effect();
    }
  }
  ask(call, json_request("DELETE", address));
  return "{\"deleted\":true}";
}

kruxos::EffectFound NotesAdapter::find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& what) {
  const auto id = text_of(object(what.result_json), "id");
  const auto result = host_.http().send(call, json_request("GET", "notes/" + encoded(id)));
  if (!result.ok()) return kruxos::EffectFound::cannot_tell();
  if (result.response.status == 404) return kruxos::EffectFound::found("{\"deleted\":true}");
  return result.response.status == 200 ? kruxos::EffectFound::absent() : kruxos::EffectFound::cannot_tell();
}

// --- account ---

kruxos::Identity NotesAdapter::verify(const kruxos::Call& call) {
  const auto me = object(ask(call, json_request("GET", "me")).body);
  return {std::string(text_of(me, "id")), std::string(text_of(me, "name")), std::nullopt, ""};
}

void NotesAdapter::revoke(const kruxos::Call& call) {
  ask(call, json_request("DELETE", "token"));
}

}  // namespace notes

KRUXOS_PLUGIN(notes::NotesAdapter, "notes", "notes", "1.0.0");
