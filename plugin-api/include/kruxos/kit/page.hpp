// kruxos/kit/page.hpp - what a search answers. Needs no RapidJSON.
#pragma once
#include <kruxos/adapter/replica.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kruxos::kit {

/// {"NAME":[ROW,...],"page_is_cut":true,"total":7,"total_is_lower_bound":true,"next_offset":5,"incomplete":true}, where
/// the page ends early rather than to grow beyond what the host takes (8 MiB) or an agent can use; the flags are there
/// when they are true, and next_offset, the `offset` at which the next page begins, where more follows.
class PageWriter {
 public:
  /// `name`: letters and underscores. 0: without a bound.
  explicit PageWriter(std::string_view name, std::size_t most_bytes = 2 << 20) : most_bytes_(most_bytes) {
    out_.append("{\"").append(name).append("\":[");
  }

  /// Where the next row's JSON is to be appended.
  std::string& row() {
    if (out_.back() != '[') out_ += ',';
    ++rows_;
    return out_;
  }
  /// A row of the query is not shown: the next page begins behind it.
  void skip() noexcept { ++rows_; }
  /// False when the page is full: what a query's callback returns.
  bool add(std::string_view json) {
    row().append(json);
    return has_room();
  }
  bool has_room() const noexcept { return most_bytes_ == 0 || out_.size() < most_bytes_; }

  /// `query`: that made the page, where its capability takes an offset; null: nothing is said of a next page.
  std::string done(const QueryResult& result, const Query* query = nullptr) {
    out_ += has_room() ? "]" : "],\"page_is_cut\":true";
    out_.append(",\"total\":").append(std::to_string(result.total));
    if (result.total_is_lower_bound) out_ += ",\"total_is_lower_bound\":true";
    if (query && has_more(result, *query))
      out_.append(",\"next_offset\":").append(std::to_string(query->offset + rows_));
    if (result.incomplete) out_ += ",\"incomplete\":true";
    return out_ + "}";
  }

 private:
  bool has_more(const QueryResult& result, const Query& query) const {
    if (rows_ == 0) return false;  // whoever asked behind it would not come on
    const bool full = !has_room() || rows_ >= query.limit;
    return query.offset + rows_ < result.total || (full && result.total_is_lower_bound);
  }

  std::string out_;
  std::uint64_t rows_ = 0;
  std::size_t most_bytes_;
};

}  // namespace kruxos::kit
