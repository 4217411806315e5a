#include "bench/local_search.hpp"

#include <fmt/format.h>

#include "bench/report.hpp"
#include "core/util/json.hpp"
#include "plugins/slack/answers.hpp"

namespace krux::bench {
namespace {

/// Names by id, as JSON strings; each looked up once a search.
class Names {
 public:
  Names(ReplicaReader& reader, const char* collection) : reader_(reader), collection_(collection) {}

  const std::string& of(std::string_view id) {
    if (const auto at = known_.find(id); at != known_.end()) return at->second;
    std::string name(id);
    reader_.get(collection_, id, [&](const RowView& row) {
      const auto document = parse_json(row.json, "a record");
      name = find_string(document, "name").value_or(id);
      return true;
    });
    return known_.emplace(std::string(id), json_string(name)).first->second;
  }

 private:
  ReplicaReader& reader_;
  const char* collection_;
  std::map<std::string, std::string, std::less<>> known_;
};

}  // namespace

LocalSearch::LocalSearch(const std::filesystem::path& replica, std::vector<CollectionSpec> collections)
    : LocalSearch(replica, std::make_shared<const CollectionTables>(std::move(collections))) {}

LocalSearch::LocalSearch(const std::filesystem::path& replica, const std::shared_ptr<const CollectionTables>& tables)
    : pool_(std::make_shared<ReplicaReaderPool>(replica, CollectionSets{tables, tables}, SearchBudget{})) {}

LocalSearch::Found LocalSearch::run(const Query& query) const {
  PooledReader reader(pool_, Rows::kServed);
  Names users(reader, "users"), channels(reader, "channels");
  Found found;
  found.json = "{\"messages\":[";
  found.result = reader.query(query, [&](const RowView& row) {
    const auto ids = slack::ids_of(row.json);
    if (found.rows++ > 0) found.json += ',';
    slack::append_message(row.json, {users.of(ids.user), channels.of(ids.channel)}, found.json);
    return true;
  });
  found.json += fmt::format("],\"total\":{}", found.result.total);
  if (found.result.total_is_lower_bound) found.json += ",\"total_is_lower_bound\":true";
  if (found.result.incomplete) found.json += ",\"incomplete\":true";
  found.json += '}';
  return found;
}

}  // namespace krux::bench
