#include "sync_state.hpp"

#include "json.hpp"

namespace slack {
namespace {

rapidjson::Document load_json(const kruxos::SyncStore& store, std::string_view key) {
  const auto text = store.cursor(key);
  auto json = parse(text.value_or("{}"));
  // A cursor that does not parse was not written by this version: start that part anew.
  if (json.HasParseError() || !json.IsObject()) json = parse("{}");
  return json;
}

std::string to_json(const ListState& list) {
  return ObjectWriter()
      .text("cursor", list.cursor)
      .integer("generation", list.generation)
      .integer("completed_ms", list.completed_ms)
      .integer("pages", list.pages)
      .integer("pages_so_far", list.pages_so_far)
      .flag("wanted", list.wanted)
      .done();
}

ListState list_of(const Json& pass, std::string_view name) {
  ListState list;
  const auto* json = member(pass, name);
  if (!json || !json->IsObject()) return list;
  list.cursor = text_of(*json, "cursor");
  list.generation = integer_of(*json, "generation");
  list.completed_ms = integer_of(*json, "completed_ms");
  list.pages = integer_of(*json, "pages");
  list.pages_so_far = integer_of(*json, "pages_so_far");
  list.wanted = flag_of(*json, "wanted");
  return list;
}

std::string channel_key(std::string_view id) {
  return "channel:" + std::string(id);
}

}  // namespace

PassState PassState::load(const kruxos::SyncStore& store) {
  const auto json = load_json(store, "pass");
  PassState pass;
  pass.number = integer_of(json, "number");
  pass.started_ms = integer_of(json, "started_ms");
  pass.next_generation = integer_of(json, "next_generation", 1);
  pass.revision = integer_of(json, "revision");
  pass.open = flag_of(json, "open");
  pass.look_back = flag_of(json, "look_back");
  pass.round_began_ms = integer_of(json, "round_began_ms");
  pass.last_round_ms = integer_of(json, "last_round_ms");
  pass.round_cost_ms = integer_of(json, "round_cost_ms");
  pass.replies_through_ms = integer_of(json, "replies_through_ms");
  pass.channels = list_of(json, "channels");
  pass.users = list_of(json, "users");
  return pass;
}

void PassState::save(kruxos::SyncStore& store) const {
  store.set_cursor("pass", ObjectWriter()
                               .integer("number", number)
                               .integer("started_ms", started_ms)
                               .integer("next_generation", next_generation)
                               .integer("revision", revision)
                               .flag("open", open)
                               .flag("look_back", look_back)
                               .integer("round_began_ms", round_began_ms)
                               .integer("last_round_ms", last_round_ms)
                               .integer("round_cost_ms", round_cost_ms)
                               .integer("replies_through_ms", replies_through_ms)
                               .raw("channels", to_json(channels))
                               .raw("users", to_json(users))
                               .done());
}

ChannelState ChannelState::load(const kruxos::SyncStore& store, std::string_view id) {
  const auto json = load_json(store, channel_key(id));
  ChannelState c;
  c.id = id;
  c.newest = text_of(json, "newest");
  c.floor = text_of(json, "floor", "0");
  c.pass = integer_of(json, "pass");
  c.through_ms = integer_of(json, "through_ms");
  c.synced = flag_of(json, "synced");
  c.failed = flag_of(json, "failed");
  c.refused = flag_of(json, "refused");
  c.look = static_cast<Look>(integer_of(json, "look"));
  c.oldest = text_of(json, "oldest");
  c.page = text_of(json, "page");
  c.max_ts = text_of(json, "max_ts");
  c.min_ts = text_of(json, "min_ts");
  c.got = integer_of(json, "got");
  c.generation = integer_of(json, "generation");
  c.began_ms = integer_of(json, "began_ms");
  return c;
}

void ChannelState::save(kruxos::SyncStore& store) const {
  ObjectWriter writer;
  writer.text("newest", newest).text("floor", floor).integer("pass", pass).integer("through_ms", through_ms);
  writer.flag("synced", synced).flag("failed", failed).flag("refused", refused);
  if (look != Look::kNone) {
    writer.integer("look", static_cast<int>(look)).text("oldest", oldest).text("page", page).text("max_ts", max_ts);
    writer.text("min_ts", min_ts).integer("got", got).integer("generation", generation).integer("began_ms", began_ms);
  }
  store.set_cursor(channel_key(id), writer.done());
}

void ChannelState::end_look() {
  look = Look::kNone;
  oldest.clear();
  page.clear();
  max_ts.clear();
  min_ts.clear();
  got = generation = began_ms = 0;
}

ThreadState ThreadState::load(const kruxos::SyncStore& store) {
  const auto json = load_json(store, "thread");
  return {std::string(text_of(json, "id")), std::string(text_of(json, "page")), integer_of(json, "generation"),
          integer_of(json, "began_ms")};
}

void ThreadState::save(kruxos::SyncStore& store) const {
  if (id.empty()) return store.set_cursor("thread", "");
  ObjectWriter writer;
  writer.text("id", id).text("page", page).integer("generation", generation).integer("began_ms", began_ms);
  store.set_cursor("thread", writer.done());
}

std::vector<std::string> load_tracked(const kruxos::SyncStore& store) {
  const auto json = parse(store.cursor("tracked").value_or("[]"));
  std::vector<std::string> ids;
  if (json.HasParseError() || !json.IsArray()) return ids;
  for (const auto& id : json.GetArray()) {
    if (id.IsString()) ids.emplace_back(id.GetString(), id.GetStringLength());
  }
  return ids;
}

void save_tracked(kruxos::SyncStore& store, const std::vector<std::string>& ids) {
  std::string json = "[";
  for (const auto& id : ids) json += (json.size() > 1 ? "," : "") + quoted(id);
  store.set_cursor("tracked", json + "]");
}

}  // namespace slack
