// Core's values in frames. The decoders are strict: they throw BadFrame for what no honest runner or host sends.
#pragma once

#include <vector>

#include "core/adapter/service_adapter.hpp"
#include "core/net/http.hpp"
#include "core/replica/collection.hpp"
#include "host/runner/frame.hpp"

namespace krux {

void put_collections(WireWriter& out, const std::vector<CollectionSpec>& collections);
std::vector<CollectionSpec> get_collections(WireReader& in);

void put_write(WireWriter& out, const AdapterWrite& write);
AdapterWrite get_write(WireReader& in);

void put_rollback(WireWriter& out, const RollbackRequest& request);
RollbackRequest get_rollback(WireReader& in);

void put_record(WireWriter& out, const Record& record);
Record get_record(WireReader& in);

void put_query(WireWriter& out, const Query& query);
Query get_query(WireReader& in);

/// What a call's adapter may say to whoever waits; its functions do not travel.
void put_dialogue(WireWriter& out, const ReadDialogue* dialogue);
std::optional<ReadDialogue> get_dialogue(WireReader& in);

void put_headers(WireWriter& out, const HttpHeaders& headers);
HttpHeaders get_headers(WireReader& in);

/// Without a body of its own when `streamed`: the host pulls it then, `body_length` bytes of it.
void put_http_request(WireWriter& out, const HttpRequest& request, bool streamed);
/// `streamed`: the caller sets body_source.
HttpRequest get_http_request(WireReader& in, bool& streamed);

void put_failure(WireWriter& out, const CallFailure& failure);
/// Cleaned as an adapter's own words are: a known status, a name that can be one, a printable sentence.
CallFailure get_failure(WireReader& in);

void put_step(WireWriter& out, const SyncStep& step);
SyncStep get_step(WireReader& in);

void put_found(WireWriter& out, const EffectFound& found);
EffectFound get_found(WireReader& in);

void put_identity(WireWriter& out, const Identity& identity);
Identity get_identity(WireReader& in);

/// One JSON object of at most `max` bytes.
std::string get_object(WireReader& in, std::size_t max);

/// The last word on a runner's request.
struct WireAnswer {
  krux_status status = KRUX_OK;
  std::string words;  ///< when it failed
  std::optional<std::int64_t> retry_after_ms;
  QueryResult result;
  std::string tail;  ///< rows or bytes that came in no part of their own
};
void put_answer(WireWriter& out, const WireAnswer& answer);
WireAnswer get_answer(WireReader& in);

void put_row(WireWriter& out, const RowView& row);
/// Views into the frame.
RowView get_row(WireReader& in);

}  // namespace krux
