#include "host/runner/wire_types.hpp"

#include <algorithm>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/edge.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestOperation = 256, kLargestParams = 8 << 20, kLongestAccountId = 256;
constexpr std::uint32_t kMostCollections = 1000, kMostScopes = 64 * 1024;
constexpr std::size_t kLongestDisplayName = 8 * limits::kLargestIdentity;  // made printable, it has grown
constexpr int kDeepestJson = 32;

std::string own(std::string_view text) {
  return std::string(text);
}

template <class Enum>
Enum get_enum(WireReader& in, Enum last) {
  return static_cast<Enum>(in.below(static_cast<std::uint8_t>(static_cast<std::uint8_t>(last) + 1)));
}

template <class Enum>
void put_enum(WireWriter& out, Enum value) {
  out.u8(static_cast<std::uint8_t>(value));
}

std::int64_t get_time(WireReader& in) {
  const auto value = in.i64();
  if (value < 0) throw BadFrame("A time in a frame is negative.");
  return value;
}

void put_condition(WireWriter& out, const Condition& condition) {
  put_enum(out, condition.kind);
  put_enum(out, condition.op);
  out.text(condition.field).text(condition.text).i64(condition.number);
  out.u32(static_cast<std::uint32_t>(condition.children.size()));
  for (const auto& child : condition.children) put_condition(out, child);
}

Condition get_condition(WireReader& in, int depth, int& left) {
  if (depth > limits::kDeepestCondition || --left < 0) throw BadFrame("A query in a frame has too many conditions.");
  Condition condition;
  condition.kind = get_enum(in, Condition::Kind::kNamedText);
  condition.op = get_enum(in, Condition::Op::kContains);
  condition.field = in.text(limits::kLongestName);
  condition.text = in.text(limits::kLongestConditionText);
  condition.number = in.i64();
  const auto count = in.count(limits::kMostConditions);
  for (std::uint32_t i = 0; i < count; ++i) condition.children.push_back(get_condition(in, depth + 1, left));
  return condition;
}

}  // namespace

void put_collections(WireWriter& out, const std::vector<CollectionSpec>& collections) {
  out.u32(static_cast<std::uint32_t>(collections.size()));
  for (const auto& spec : collections) {
    out.text(spec.name).i64(spec.version);
    put_enum(out, spec.order);
    out.flag(spec.searchable).u32(static_cast<std::uint32_t>(spec.fields.size()));
    for (const auto& field : spec.fields) {
      out.text(field.name);
      put_enum(out, field.type);
    }
    out.flag(spec.tags).u32(static_cast<std::uint32_t>(spec.texts.size()));
    for (const auto& text : spec.texts) out.text(text.name).flag(text.exact);
  }
}

std::vector<CollectionSpec> get_collections(WireReader& in) {
  std::vector<CollectionSpec> all(in.count(kMostCollections));
  for (auto& spec : all) {
    spec.name = in.text(limits::kLongestName);
    spec.version = in.i64();
    spec.order = get_enum(in, CollectionSpec::Order::kKey);
    spec.searchable = in.flag();
    spec.fields.resize(in.count(limits::kMostFields));
    for (auto& field : spec.fields) {
      field.name = in.text(limits::kLongestName);
      field.type = get_enum(in, FieldSpec::Type::kInteger);
    }
    spec.tags = in.flag();
    spec.texts.resize(in.count(limits::kMostNamedTexts));
    for (auto& text : spec.texts) {
      text.name = in.text(limits::kLongestName);
      text.exact = in.flag();
    }
  }
  return all;
}

void put_write(WireWriter& out, const AdapterWrite& write) {
  out.text(write.write_id).text(write.operation).text(write.params_json).text(write.note_json).text(write.point_json);
  out.u32(write.attempt).i64(write.created_at_ms).i64(write.first_attempt_at_ms);
}

AdapterWrite get_write(WireReader& in) {
  AdapterWrite write;
  write.write_id = in.text(kLongestOperation);
  write.operation = in.text(kLongestOperation);
  write.params_json = in.text(kLargestParams);
  write.note_json = in.text(limits::kLargestNote);
  write.point_json = in.text(limits::kLargestPoint);
  write.attempt = in.u32();
  write.created_at_ms = in.i64();
  write.first_attempt_at_ms = in.i64();
  return write;
}

void put_rollback(WireWriter& out, const RollbackRequest& request) {
  out.text(request.rollback_id).text(request.operation).text(request.params_json).text(request.point_json);
  out.text(request.result_json).flag(request.force);
}

RollbackRequest get_rollback(WireReader& in) {
  RollbackRequest request;
  request.rollback_id = in.text(kLongestOperation);
  request.operation = in.text(kLongestOperation);
  request.params_json = in.text(kLargestParams);
  request.point_json = in.text(limits::kLargestPoint);
  request.result_json = in.text(limits::kLargestResult);
  request.force = in.flag();
  return request;
}

void put_record(WireWriter& out, const Record& record) {
  out.text(record.collection).text(record.id).text(record.json).text(record.text).text(record.order_key);
  out.text(record.scope).i64(record.order_ms).i64(record.generation);
  out.u32(static_cast<std::uint32_t>(record.fields.size()));
  for (const auto& [name, value] : record.fields) {
    const auto* number = std::get_if<std::int64_t>(&value);
    out.text(name).flag(number != nullptr);
    if (number) {
      out.i64(*number);
    } else {
      out.text(std::get<std::string>(value));
    }
  }
  out.u32(static_cast<std::uint32_t>(record.tags.size()));
  for (const auto& tag : record.tags) out.text(tag);
  out.u32(static_cast<std::uint32_t>(record.texts.size()));
  for (const auto& [name, value] : record.texts) out.text(name).text(value);
}

Record get_record(WireReader& in) {
  Record record;
  record.collection = in.text(limits::kLongestName);
  // What a service's characters make unfit, the replica makes fit or leaves out.
  record.id = in.bytes(limits::kLongestUnfitId);
  record.json = in.bytes(limits::kLargestRecord);
  record.text = in.bytes(limits::kLongestRecordText);
  record.order_key = in.bytes(limits::kLongestId);
  record.scope = in.bytes(limits::kLongestUnfitId);
  record.order_ms = in.i64();
  record.generation = in.i64();
  const auto count = in.count(limits::kMostFields);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto name = own(in.text(limits::kLongestName));
    if (in.flag()) {
      record.fields.emplace_back(std::move(name), in.i64());
    } else {
      record.fields.emplace_back(std::move(name), own(in.bytes(limits::kLongestField)));
    }
  }
  record.tags.resize(in.count(limits::kMostTags));
  for (auto& tag : record.tags) tag = in.bytes(limits::kLongestTag);
  record.texts.resize(in.count(limits::kMostTextValues));
  for (auto& [name, value] : record.texts) {
    name = in.text(limits::kLongestName);
    value = in.bytes(limits::kLongestRecordText);
  }
  return record;
}

void put_query(WireWriter& out, const Query& query) {
  out.text(query.collection);
  put_condition(out, query.where);
  out.flag(query.descending).i64(query.from_ms).i64(query.to_ms);
  out.u32(query.limit).u32(query.offset).u32(query.count_limit);
}

Query get_query(WireReader& in) {
  Query query;
  query.collection = in.text(limits::kLongestName);
  int left = limits::kMostConditions + 1;  // one stands for "everything" where there is none
  query.where = get_condition(in, 1, left);
  query.descending = in.flag();
  query.from_ms = in.i64();
  query.to_ms = in.i64();
  query.limit = in.u32();
  query.offset = in.u32();
  query.count_limit = in.u32();
  return query;
}

void put_dialogue(WireWriter& out, const ReadDialogue* dialogue) {
  out.flag(dialogue != nullptr);
  if (dialogue) out.u32(dialogue->can_ask).text(dialogue->answers_json).text(dialogue->state);
}

std::optional<ReadDialogue> get_dialogue(WireReader& in) {
  if (!in.flag()) return std::nullopt;
  ReadDialogue dialogue;
  dialogue.can_ask = in.u32();
  dialogue.answers_json = in.text(limits::kLargestAnswers);
  dialogue.state = in.text(limits::kLargestReadState);
  return dialogue;
}

void put_headers(WireWriter& out, const HttpHeaders& headers) {
  out.u32(static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) out.text(name).text(value);
}

// Of an answer they are the service's: any bytes, and the host's own client has bounded them.
HttpHeaders get_headers(WireReader& in) {
  HttpHeaders headers(in.count(10'000));
  for (auto& [name, value] : headers) {
    name = in.bytes(kLargestFrame);
    value = in.bytes(kLargestFrame);
  }
  return headers;
}

void put_http_request(WireWriter& out, const HttpRequest& request, bool streamed) {
  out.text(request.method).text(request.url).u32(static_cast<std::uint32_t>(request.headers.size()));
  for (const auto& [name, value] : request.headers) out.text(name).text(value);
  out.i64(request.timeout_ms).u64(request.max_response_bytes).flag(request.only_reads).flag(streamed);
  if (streamed) {
    out.i64(request.body_length);
  } else {
    out.text(request.body);
  }
}

HttpRequest get_http_request(WireReader& in, bool& streamed) {
  HttpRequest request;
  request.method = in.text(limits::kLongestMethod);
  request.url = in.text(limits::kLongestUrl);
  request.headers.resize(in.count(limits::kMostHeaders));
  for (auto& [name, value] : request.headers) {
    name = in.text(limits::kLongestHeaderName);
    value = in.text(limits::kLongestHeader);
  }
  request.timeout_ms = get_time(in);
  request.max_response_bytes = in.u64();
  request.only_reads = in.flag();
  streamed = in.flag();
  if (streamed) {
    request.body_length = get_time(in);
  } else {
    request.body = in.bytes(limits::kLargestInlineBody);
  }
  return request;
}

void put_failure(WireWriter& out, const CallFailure& failure) {
  out.u32(static_cast<std::uint32_t>(failure.status)).flag(failure.effect_none).text(failure.type.name());
  out.text(failure.message).optional(failure.retry_after_ms);
}

CallFailure get_failure(WireReader& in) {
  CallFailure failure;
  failure.status = static_cast<krux_status>(in.u32());
  if (!is_known(failure.status) || failure.status == KRUX_OK)
    throw BadFrame("A failure in a frame has no known status.");
  failure.effect_none = in.flag();
  failure.type = ErrorType::named(in.text(limits::kLongestName));
  failure.message = printable(in.text(limits::kLongestFailure));
  failure.retry_after_ms = in.optional();
  if (failure.retry_after_ms) {
    failure.retry_after_ms = std::clamp<std::int64_t>(*failure.retry_after_ms, 0, limits::kLongestRetryAfterMs);
  }
  return failure;
}

void put_step(WireWriter& out, const SyncStep& step) {
  put_enum(out, step.next);
  out.i64(step.wait_ms).i64(step.complete_through_ms).u64(step.parts_done).u64(step.parts_total);
}

SyncStep get_step(WireReader& in) {
  SyncStep step;
  step.next = get_enum(in, SyncStep::Next::kWait);
  step.wait_ms = std::min(get_time(in), limits::kLongestWaitMs);
  step.complete_through_ms = get_time(in);
  step.parts_done = in.u64();
  step.parts_total = in.u64();
  step.parts_done = std::min(step.parts_done, step.parts_total);
  return step;
}

void put_found(WireWriter& out, const EffectFound& found) {
  put_enum(out, found.answer);
  out.text(found.result_json).text(found.why);
}

EffectFound get_found(WireReader& in) {
  EffectFound found;
  found.answer = get_enum(in, EffectFound::Answer::kDisproved);
  found.result_json = in.text(limits::kLargestResult);
  if (!found.result_json.empty() && !is_json_object(found.result_json, {limits::kLargestResult, kDeepestJson})) {
    throw BadFrame("What was found is no JSON object.");
  }
  found.why = in.text(limits::kLongestShownReason);
  return found;
}

void put_identity(WireWriter& out, const Identity& identity) {
  out.text(identity.account_id).text(identity.display_name).text(identity.principal).flag(identity.scopes_known);
  out.u32(static_cast<std::uint32_t>(identity.scopes.size()));
  for (const auto& scope : identity.scopes) out.text(scope);
}

Identity get_identity(WireReader& in) {
  Identity identity;
  identity.account_id = in.text(kLongestAccountId);
  if (identity.account_id.empty()) throw BadFrame("An identity has no account id.");
  identity.display_name = printable(in.text(kLongestDisplayName));
  identity.principal = in.text(limits::kLargestIdentity);
  identity.scopes_known = in.flag();
  identity.scopes.resize(in.count(kMostScopes));
  for (auto& scope : identity.scopes) scope = in.text(limits::kLargestIdentity);
  return identity;
}

std::string get_object(WireReader& in, std::size_t max) {
  auto object = own(in.text(max));
  std::string why;
  if (!is_json_object(object, {max, kDeepestJson}, &why)) throw BadFrame("A result is no JSON object: " + why);
  return object;
}

void put_answer(WireWriter& out, const WireAnswer& answer) {
  out.u32(static_cast<std::uint32_t>(answer.status)).text(answer.words).optional(answer.retry_after_ms);
  out.u64(answer.result.total).flag(answer.result.total_is_lower_bound).flag(answer.result.incomplete);
  out.raw(answer.tail);
}

WireAnswer get_answer(WireReader& in) {
  WireAnswer answer;
  answer.status = static_cast<krux_status>(in.u32());
  answer.words = in.bytes(kLargestFrame);
  answer.retry_after_ms = in.optional();
  answer.result.total = in.u64();
  answer.result.total_is_lower_bound = in.flag();
  answer.result.incomplete = in.flag();
  answer.tail = in.rest();
  return answer;
}

void put_row(WireWriter& out, const RowView& row) {
  out.text(row.id).text(row.json).i64(row.order_ms).i64(row.synced_at_ms);
}

RowView get_row(WireReader& in) {
  RowView row;
  row.id = in.bytes(kLargestFrame);
  row.json = in.bytes(kLargestFrame);
  row.order_ms = in.i64();
  row.synced_at_ms = in.i64();
  return row;
}

}  // namespace krux
