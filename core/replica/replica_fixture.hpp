// What the tests of the replica share.
#pragma once

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/replica/gram_index.hpp"
#include "core/replica/replica.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace krux::test {

inline std::vector<CollectionSpec> mail_collections(std::int64_t version = 1) {
  return parse_collections(R"({"collections": [
    {"name": "messages", "version": )" +
                           std::to_string(version) +
                           R"(, "order": "time", "searchable": true,
     "fields": [{"name": "channel"}, {"name": "sender", "type": "text"}, {"name": "stars", "type": "integer"}]},
    {"name": "people", "order": "key", "searchable": true, "fields": [{"name": "team"}]}]})");
}

inline Record message(std::string id, std::int64_t order_ms, std::string text, std::string channel = "general",
                      std::int64_t generation = 1) {
  Record r;
  r.collection = "messages";
  r.id = std::move(id);
  r.json = R"({"id":")" + r.id + "\"}";
  r.text = std::move(text);
  r.order_ms = order_ms;
  r.scope = channel;
  r.generation = generation;
  r.fields = {{"channel", std::move(channel)}};
  return r;
}

inline Condition text_is(std::string text) {
  Condition c;
  c.kind = Condition::Kind::kText;
  c.text = std::move(text);
  return c;
}

inline Condition field_is(std::string field, std::string text, Condition::Op op = Condition::Op::kEq) {
  Condition c;
  c.kind = Condition::Kind::kField;
  c.op = op;
  c.field = std::move(field);
  c.text = std::move(text);
  return c;
}

inline Condition group(Condition::Kind kind, std::vector<Condition> children) {
  Condition c;
  c.kind = kind;
  c.children = std::move(children);
  return c;
}

inline Query messages_where(Condition where) {
  Query q;
  q.collection = "messages";
  q.where = std::move(where);
  q.limit = 1000;
  return q;
}

struct Answer {
  std::vector<std::string> ids;
  QueryResult result;
};

inline Answer ask(ReplicaReader& reader, const Query& query) {
  Answer answer;
  answer.result = reader.query(query, [&](const RowView& row) {
    answer.ids.emplace_back(row.id);
    return true;
  });
  return answer;
}

/// Compares each search index with the rows it is made from; throws where they differ.
inline void check_index_of(const std::filesystem::path& file, const std::vector<std::string>& tables) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  register_gram_tokenizer(db.getHandle());
  for (const auto& table : tables)
    db.exec(fmt::format("INSERT INTO {0}({0}, rank) VALUES ('integrity-check', 1)", table));
}
inline void check_index(const std::filesystem::path& file) {
  check_index_of(file, {"t_messages", "t_people"});
}

/// A store in a directory of its own, with enough time for every search.
struct ReplicaFixture {
  explicit ReplicaFixture(std::vector<CollectionSpec> specs = mail_collections()) { open(std::move(specs)); }
  void open(std::vector<CollectionSpec> specs = mail_collections()) {
    store.reset();
    store = std::make_unique<Replica>(file, std::move(specs), clock,
                                      SearchBudget{std::chrono::seconds(100), std::chrono::seconds(100)});
  }

  support::Scratch scratch;
  std::filesystem::path file = scratch.path() / "T0001.db";
  DrivenClock clock;
  std::unique_ptr<Replica> store;
};

/// What `action` throws, or nothing.
inline std::string error_of(const std::function<void()>& action, std::string* type = nullptr) {
  try {
    action();
  } catch (const Error& e) {
    if (type) *type = e.type().name();
    return e.what();
  }
  return {};
}

inline std::vector<std::string> everything(ReplicaFixture& r) {
  return ask(*r.store->reader(), messages_where({})).ids;
}

inline std::string blob_of(ReplicaReader& reader, const std::string& id, const std::string& name) {
  std::string bytes;
  if (!reader.blob("messages", id, name, [&](std::string_view part) {
        bytes += part;
        return true;
      })) {
    return "<none>";
  }
  return bytes;
}

/// A source of `content` in parts of `step` bytes; -1 after `fail_after` bytes.
inline std::function<std::int64_t(char*, std::size_t)> from(const std::string& content, std::size_t step,
                                                            std::size_t fail_after = SIZE_MAX) {
  auto at = std::make_shared<std::size_t>(0);
  return [=](char* out, std::size_t capacity) -> std::int64_t {
    if (*at >= fail_after) return -1;
    const auto n = std::min({step, capacity, content.size() - *at});
    content.copy(out, n, *at);
    *at += n;
    return static_cast<std::int64_t>(n);
  };
}

}  // namespace krux::test
