#include "labels.hpp"

#include <algorithm>
#include <kruxos/kit/page.hpp>

#include "model.hpp"

namespace gmail {
namespace {

/// Kept within what a query takes, though the host has checked it.
std::uint32_t count_within(const Json& params, std::string_view name, std::int64_t otherwise, std::int64_t most) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(integer_of(params, name, otherwise), 0, most));
}

}  // namespace

std::string list_labels(const kruxos::Reader& reader, const Json& params) {
  kruxos::Query query;
  query.collection = kLabels;
  query.descending = false;
  query.limit = count_within(params, "limit", 100, 1000);
  query.offset = count_within(params, "offset", 0, 1'000'000);
  query.count_limit = 10'000;  // Gmail's own bound
  if (const auto name = text_of(params, "name_contains"); !name.empty())
    query.where = kruxos::field_is("key", KRUX_CONTAINS, label_key(name));
  PageWriter page("labels");
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    const auto label = label_from_record(row.json);
    if (!label) {
      page.skip();
      return true;
    }
    ObjectWriter one;
    one.text("id", label->id).text("name", label->name).text("type", label->is_system ? "system" : "user");
    return page.add(one.done());
  });
  return page.done(result, &query);
}

}  // namespace gmail
