// What is lent to a read that may ask the service.
#include "core/replica/sync_shared.hpp"
#include "core/util/error.hpp"

namespace krux {

std::string json_of_record(ReplicaReader& rows, std::string_view collection, std::string_view id) {
  std::string json;
  rows.get(collection, id, [&](const RowView& row) {
    json = row.json;
    return false;
  });
  return json;
}

bool ReplicaReader::keep(std::string_view, std::string_view, const KeptBlob&, std::string_view) {
  throw Error(ErrorCode::kUnsupported,
              "Only a read of a capability whose definition says `fetches` keeps something in the replica.");
}

// Whoever overrides it takes the record over.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
std::string ReplicaReader::put_fetched(Record, std::string_view) {
  throw Error(ErrorCode::kUnsupported,
              "Only a read of a capability whose definition says `fetches` puts something into the replica.");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
std::string SyncSession::put_fetched(Record, std::string_view) {
  throw Error(ErrorCode::kUnsupported, "A sync puts its records as its own.");
}

class Replica::FetchingReader final : public ReplicaReader {
 public:
  explicit FetchingReader(std::shared_ptr<Shared> shared)
      : view_(shared->readers, Rows::kServed), store_(std::move(shared)) {}

  bool get(std::string_view collection, std::string_view id, const OnRow& on_row) override {
    return view_.get(collection, id, on_row);
  }
  QueryResult query(const Query& query, const OnRow& on_row) override { return view_.query(query, on_row); }
  bool blob(std::string_view collection, std::string_view id, std::string_view name,
            const std::function<bool(std::string_view)>& on_bytes) override {
    return view_.blob(collection, id, name, on_bytes);
  }

  ReplicaFreshness freshness() override { return view_.freshness(); }
  bool saw_other_version() const override { return view_.saw_other_version(); }

  bool keep(std::string_view collection, std::string_view id, const KeptBlob& blob, std::string_view text) override {
    if (!is_there(collection, id)) return false;
    const auto session = store_.begin_keeping();
    if (blob.source) session->put_blob(collection, id, blob.name, blob.total, blob.source);
    if (!text.empty()) session->keep_text(collection, id, text);
    session->commit();
    return is_there(collection, id);  // a sync may have erased it meanwhile, and with it what was kept
  }

  std::string put_fetched(Record record, std::string_view too_large) override {
    const auto session = store_.begin_keeping();
    auto why = session->put_fetched(std::move(record), too_large);
    session->commit();
    return why;
  }

 private:
  bool is_there(std::string_view collection, std::string_view id) {
    return store_.reader()->get(collection, id, [](const RowView&) { return true; });
  }

  PooledReader view_;
  Replica store_;
};

std::shared_ptr<ReplicaReader> Replica::fetching_reader() {
  return std::make_shared<FetchingReader>(shared_);
}

}  // namespace krux
