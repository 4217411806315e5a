#include "host/plugins/abi_bridge/lent_store.hpp"

#include <fmt/format.h>

#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

}  // namespace

LentStore::LentStore(LentCall& call, std::shared_ptr<SyncSession> session,
                     const std::vector<CollectionSpec>& collections)
    : call_(call), session_(std::move(session)), collections_(collections), reader_(call, session_->reader()) {
  table_.size = sizeof(krux_sync_store);
  table_.self = this;
  table_.reader = reader_.table();
  fill_rows();
  fill_rest();
}

/// Which of its two values a krux_field carries, its collection says.
FieldValue LentStore::value_of(std::string_view collection, std::string_view name, const krux_field& field) const {
  for (const auto& spec : collections_) {
    if (spec.name != collection) continue;
    for (const auto& declared : spec.fields) {
      if (declared.name != name) continue;
      if (declared.type == FieldSpec::Type::kInteger) return field.number;
      return std::string(text_of(field.text, "A field's text", kLongestRecordText));
    }
  }
  throw invalid_input(fmt::format("The adapter has declared no field {} of a collection {}.", name, collection));
}

Record LentStore::record_of(const krux_record* given) const {
  const auto* from = &required(given, "The record");
  Record record;
  record.collection = text_of(from->collection, "The record's collection", kLongestName);
  record.id = text_of(from->id, "The record's id", kLongestId);
  record.json = text_of(from->json, "The record's JSON", kLargestRecord);
  record.text = text_of(from->text, "The record's text", kLongestRecordText);
  record.order_key = text_of(from->order_key, "The record's order key", kLongestId);
  record.order_ms = from->order_ms;
  record.scope = text_of(from->scope, "The record's scope", kLongestId);
  record.generation = from->generation;
  if (from->field_count > kMostFields || (from->field_count > 0 && !from->fields)) {
    throw invalid_input(fmt::format("A record has at most {} fields.", kMostFields));
  }
  for (std::size_t i = 0; i < from->field_count; ++i) {
    const auto name = text_of(from->fields[i].name, "A field's name", kLongestName);
    record.fields.emplace_back(name, value_of(record.collection, name, from->fields[i]));
  }
  return record;
}

void LentStore::fill_rows() {
  table_.put = [](void* self, const krux_record* record) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->put(me.record_of(record));
      return KRUX_OK;
    });
  };
  table_.erase = [](void* self, krux_str collection, krux_str id) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->erase(text_of(collection, "The collection", kLongestName), text_of(id, "The id", kLongestId));
      return KRUX_OK;
    });
  };
  table_.sweep = [](void* self, krux_str collection, krux_str scope, std::int64_t generation, std::int64_t from_ms,
                    std::int64_t to_ms) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->sweep(text_of(collection, "The collection", kLongestName), text_of(scope, "The scope", kLongestId),
                         generation, from_ms, to_ms);
      return KRUX_OK;
    });
  };
  table_.put_blob = [](void* self, krux_str collection, krux_str id, krux_str name,
                       const krux_source* bytes) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      const auto source = pull(bytes);
      me.session_->put_blob(text_of(collection, "The collection", kLongestName), text_of(id, "The id", kLongestId),
                            text_of(name, "The blob's name", kLongestName), bytes->total, source);
      return KRUX_OK;
    });
  };
  table_.keep_text = [](void* self, krux_str collection, krux_str id, krux_str kept_text) noexcept -> krux_status {
    auto& me = *static_cast<LentStore*>(self);
    return me.call_.guard([&] {
      me.session_->keep_text(text_of(collection, "The collection", kLongestName), text_of(id, "The id", kLongestId),
                             text_of(kept_text, "The kept text", kLongestKeptText));
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
      me.session_->report(text_of(part, "The part", kLongestId), is_known(status) ? status : KRUX_INTERNAL,
                          text_of(message, "The message", kLongestReport));
      return KRUX_OK;
    });
  };
}

}  // namespace krux
