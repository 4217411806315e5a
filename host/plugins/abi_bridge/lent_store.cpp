#include "host/plugins/abi_bridge/lent_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/lent_record.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

/// For people: made of what a service says, it may be long and hold anything, and is no reason to end a sync.
std::string said(krux_str bytes, std::string_view what, std::size_t max) {
  const auto all = bytes_of(bytes, what, std::numeric_limits<std::size_t>::max());
  auto text = printable(all.substr(0, max));
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xc0) == 0x80) --max;
  return text.substr(0, max);
}

}  // namespace

LentStore::LentStore(LentCall& call, std::shared_ptr<SyncSession> session,
                     const std::vector<CollectionSpec>& collections)
    : call_(call),
      session_(std::move(session)),
      collections_(collections),
      reader_(call, session_->reader(), collections) {
  table_.size = sizeof(krux_sync_store);
  table_.self = this;
  table_.reader = reader_.table();
  fill_rows();
  fill_rest();
}

/// What is too large does not cross the boundary: the record is left out in the words of who saw it.
std::string LentStore::put(const krux_record* record) {
  auto given = record_of(record, collections_);
  if (given.too_large.empty()) return session_->put(std::move(given.record));
  session_->leave_out(std::move(given.record), given.too_large);
  return given.too_large;
}

void LentStore::fill_rows() {
  table_.put = [](void* self, const krux_record* record) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.put(record);
      return KRUX_OK;
    });
  };
  table_.try_put = [](void* self, const krux_record* record, std::int32_t* taken,
                      const krux_sink* why) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      if (!taken) throw invalid_input("The place for whether the record was taken is missing.");
      return say_taken(me.put(record), taken, why);
    });
  };
  table_.erase_blob = [](void* self, krux_str collection, krux_str id, krux_str name) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->erase_blob(text_of(collection, "The collection", kLongestName), id_of(id, "The id"),
                              text_of(name, "The blob's name", kLongestName));
      return KRUX_OK;
    });
  };
  table_.erase = [](void* self, krux_str collection, krux_str id) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->erase(text_of(collection, "The collection", kLongestName), id_of(id, "The id"));
      return KRUX_OK;
    });
  };
  table_.sweep = [](void* self, krux_str collection, krux_str scope, std::int64_t generation, std::int64_t from_ms,
                    std::int64_t to_ms) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->sweep(text_of(collection, "The collection", kLongestName), id_of(scope, "The scope"), generation,
                         from_ms, to_ms);
      return KRUX_OK;
    });
  };
  table_.put_blob = [](void* self, krux_str collection, krux_str id, krux_str name,
                       const krux_source* bytes) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      const auto source = pull(bytes);
      me.session_->put_blob(text_of(collection, "The collection", kLongestName), id_of(id, "The id"),
                            text_of(name, "The blob's name", kLongestName), bytes->total, source);
      return KRUX_OK;
    });
  };
  table_.keep_text = [](void* self, krux_str collection, krux_str id, krux_str kept_text) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->keep_text(text_of(collection, "The collection", kLongestName), id_of(id, "The id"),
                             kept_text_of(kept_text));
      return KRUX_OK;
    });
  };
}

void LentStore::fill_rest() {
  table_.get_cursor = [](void* self, krux_str key, const krux_sink* value) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      if (!value || !value->write) throw invalid_input("The receiver of the cursor is missing.");
      const auto cursor = me.session_->cursor(text_of(key, "The cursor's key", kLongestId));
      if (!cursor) return KRUX_NOT_FOUND;
      return value->write(value->self, to_abi(*cursor)) == 0 ? KRUX_OK : KRUX_CANCELLED;
    });
  };
  table_.set_cursor = [](void* self, krux_str key, krux_str value) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->set_cursor(text_of(key, "The cursor's key", kLongestId),
                              text_of(value, "The cursor", kLongestCursor));
      return KRUX_OK;
    });
  };
  table_.commit = [](void* self) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->commit();
      return KRUX_OK;
    });
  };
  table_.report = [](void* self, krux_str part, krux_status status, krux_str message) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->report(said(part, "The part", kLongestId), is_known(status) ? status : KRUX_INTERNAL,
                          said(message, "The message", kLongestReport));
      return KRUX_OK;
    });
  };
}

}  // namespace krux
