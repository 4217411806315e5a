// kruxos/kit/search.hpp - a search as agents ask for it.
#pragma once
#include <kruxos/adapter/replica.hpp>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/page.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos::kit {

/// The query that a capability's inputs `query` (a text that records contain; empty finds all), `limit` and `offset`
/// ask for. Further conditions go into `where.children`: all of them must fit.
inline Query search_query(std::string collection, const Json& params) {
  const auto number = [&](const char* name, std::int64_t otherwise) {
    const auto value = integer_of(params, name, otherwise);
    return std::in_range<std::uint32_t>(value) ? static_cast<std::uint32_t>(value) : 0U;
  };
  Query query;
  query.collection = std::move(collection);
  if (const auto text = text_of(params, "query"); !text.empty())
    query.where.children.push_back(contains_text(std::string(text)));
  query.limit = number("limit", query.limit);
  query.offset = number("offset", 0);
  return query;
}

/// Gives the record a tag for each text in the list `name` of its service's JSON, such as labels; what is no list, no
/// text or no tag (empty, above 256 bytes) is passed over.
inline void add_tags(Record& record, const Json& from, std::string_view name) {
  const auto* list = member(from, name);
  if (list == nullptr || !list->IsArray()) return;
  for (const auto& one : list->GetArray()) {
    if (one.IsString() && one.GetStringLength() > 0 && one.GetStringLength() <= 256)
      record.tag(std::string(one.GetString(), one.GetStringLength()));
  }
}

/// The rows of the query as they were put, in the member `name`.
inline std::string search_page(const Reader& reader, const Query& query, std::string_view name) {
  PageWriter page(name);
  const auto result = reader.query(query, [&](const Row& row) { return page.add(row.json); });
  return page.done(result);
}

}  // namespace kruxos::kit
