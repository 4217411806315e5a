#include "host/plugins/abi_bridge/lent_reader.hpp"

#include <fmt/format.h>

#include "host/plugins/abi_bridge/lent_record.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

Condition::Kind kind_of(std::int32_t kind) {
  switch (kind) {
    case KRUX_ALL_OF:
      return Condition::Kind::kAllOf;
    case KRUX_ANY_OF:
      return Condition::Kind::kAnyOf;
    case KRUX_NONE_OF:
      return Condition::Kind::kNoneOf;
    case KRUX_TEXT:
      return Condition::Kind::kText;
    case KRUX_FIELD:
      return Condition::Kind::kField;
    case KRUX_TAG:
      return Condition::Kind::kTag;
    case KRUX_NAMED_TEXT:
      return Condition::Kind::kNamedText;
  }
  throw invalid_input(fmt::format("There is no kind {} of condition.", kind));
}

Condition::Op op_of(std::int32_t op) {
  switch (op) {
    case KRUX_EQ:
      return Condition::Op::kEq;
    case KRUX_NE:
      return Condition::Op::kNe;
    case KRUX_LT:
      return Condition::Op::kLt;
    case KRUX_LE:
      return Condition::Op::kLe;
    case KRUX_GT:
      return Condition::Op::kGt;
    case KRUX_GE:
      return Condition::Op::kGe;
    case KRUX_CONTAINS:
      return Condition::Op::kContains;
  }
  throw invalid_input(fmt::format("There is no comparison {}.", op));
}

Condition condition_of(const krux_condition* given, int depth, int& left) {
  const auto* from = &required(given, "A condition");
  if (depth > kDeepestCondition || --left < 0) {
    throw invalid_input(fmt::format("A query has at most {} conditions, {} deep.", kMostConditions, kDeepestCondition));
  }
  Condition condition;
  condition.kind = kind_of(from->kind);
  if (condition.kind == Condition::Kind::kField) condition.op = op_of(from->op);
  condition.field = text_of(from->field, "A condition's field", kLongestName);
  condition.text = text_of(from->text, "A condition's text", kLongestConditionText);
  condition.number = from->number;
  if (from->child_count > 0 && !from->children) throw invalid_input("A condition's children are missing.");
  for (std::size_t i = 0; i < from->child_count; ++i) {
    condition.children.push_back(condition_of(from->children[i], depth + 1, left));
  }
  return condition;
}

Query query_of(const krux_query& from) {
  Query query;
  query.collection = text_of(from.collection, "The collection", kLongestName);
  int left = kMostConditions;
  if (from.where) query.where = condition_of(from.where, 1, left);
  query.descending = from.order == KRUX_ORDER_DESCENDING;
  query.from_ms = from.from_ms;
  query.to_ms = from.to_ms;
  query.limit = from.limit;
  query.offset = from.offset;
  query.count_limit = from.count_limit;
  return query;
}

ReplicaReader::OnRow pass_rows(const krux_row_sink* out) {
  if (!out || !out->row) throw invalid_input("The receiver of the rows is missing.");
  return [out](const RowView& row) {
    const krux_row abi{sizeof(krux_row), 0, to_abi(row.id), to_abi(row.json), row.order_ms, row.synced_at_ms};
    return out->row(out->self, &abi) == 0;
  };
}

LentReader& of(void* self) {
  return *static_cast<LentReader*>(self);
}

}  // namespace

LentReader::LentReader(LentCall& call, std::shared_ptr<ReplicaReader> reader,
                       const std::vector<CollectionSpec>& collections)
    : call_(call), reader_(std::move(reader)), collections_(collections) {
  table_.size = sizeof(krux_reader);
  table_.self = this;
  table_.get = [](void* self, krux_str collection, krux_str id, const krux_row_sink* out) noexcept -> krux_status {
    return of(self).call_.guard([&] {
      const bool found = of(self).reader_->get(text_of(collection, "The collection", kLongestName), id_of(id, "The id"),
                                               pass_rows(out));
      return found ? KRUX_OK : KRUX_NOT_FOUND;
    });
  };
  table_.query = [](void* self, const krux_query* query, const krux_row_sink* out,
                    krux_query_result* result) noexcept -> krux_status {
    return of(self).call_.guard([&] { return of(self).query(query, out, result); });
  };
  table_.blob = [](void* self, krux_str collection, krux_str id, krux_str name,
                   const krux_sink* out) noexcept -> krux_status {
    return of(self).call_.guard([&] {
      if (!out || !out->write) throw invalid_input("The receiver of the blob is missing.");
      const bool found =
          of(self).reader_->blob(text_of(collection, "The collection", kLongestName), id_of(id, "The id"),
                                 text_of(name, "The blob's name", kLongestName),
                                 [&](std::string_view bytes) { return out->write(out->self, to_abi(bytes)) == 0; });
      return found ? KRUX_OK : KRUX_NOT_FOUND;
    });
  };
  table_.put = [](void* self, const krux_record* record, std::int32_t* taken,
                  const krux_sink* why) noexcept -> krux_status {
    return of(self).call_.guard([&] {
      auto given = record_of(record, of(self).collections_);
      if (!taken) throw invalid_input("The place for whether the record was taken is missing.");
      return say_taken(of(self).reader_->put_fetched(std::move(given.record), given.too_large), taken, why);
    });
  };
  table_.keep = [](void* self, krux_str collection, krux_str id, krux_str name, const krux_source* bytes,
                   krux_str kept_text) noexcept -> krux_status {
    return of(self).call_.guard([&] {
      const KeptBlob blob =
          bytes ? KeptBlob{std::string(text_of(name, "The blob's name", kLongestName)), bytes->total, pull(bytes)}
                : KeptBlob{};
      const bool found = of(self).reader_->keep(text_of(collection, "The collection", kLongestName),
                                                id_of(id, "The id"), blob, kept_text_of(kept_text));
      return found ? KRUX_OK : KRUX_NOT_FOUND;
    });
  };
}

krux_status LentReader::query(const krux_query* query, const krux_row_sink* out, krux_query_result* result) {
  required(result, "The query's result");
  const auto answer = reader_->query(query_of(required(query, "The query")), pass_rows(out));
  result->total = answer.total;
  result->total_is_lower_bound = answer.total_is_lower_bound;
  result->incomplete = answer.incomplete;
  return KRUX_OK;
}

}  // namespace krux
