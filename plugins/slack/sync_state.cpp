#include "sync_state.hpp"

#include <kruxos/kit/cursor.hpp>

#include "json.hpp"

namespace slack {
namespace {

std::string channel_key(std::string_view id) {
  return "channel:" + std::string(id);
}

}  // namespace

PassState PassState::load(const kruxos::SyncStore& store) {
  return load_cursor<PassState>(store, "pass");
}

void PassState::save(kruxos::SyncStore& store) const {
  save_cursor(store, "pass", *this);
}

ChannelState ChannelState::load(const kruxos::SyncStore& store, std::string_view id) {
  auto channel = load_cursor<ChannelState>(store, channel_key(id));
  channel.id = id;
  return channel;
}

void ChannelState::save(kruxos::SyncStore& store) const {
  save_cursor(store, channel_key(id), *this);
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
  return load_cursor<ThreadState>(store, "thread");
}

void ThreadState::save(kruxos::SyncStore& store) const {
  store.set_cursor("thread", id.empty() ? "" : to_json(*this));
}

std::vector<std::string> load_tracked(const kruxos::SyncStore& store) {
  return texts_of(parse(store.cursor("tracked").value_or("[]")));
}

void save_tracked(kruxos::SyncStore& store, const std::vector<std::string>& ids) {
  store.set_cursor("tracked", quoted_list(ids));
}

}  // namespace slack
