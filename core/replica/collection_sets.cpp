#include "core/replica/collection_sets.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/storage/statement.hpp"

namespace krux {
namespace {

struct PresentSet {
  std::string set, collection, shape;
  std::int64_t version = 0;
  bool complete = false;
};

/// The sets of one collection that are in use.
struct PresentSets {
  std::optional<PresentSet> serves, fills;
};

bool is_as_declared(const std::optional<PresentSet>& present, const CollectionTable& declared) {
  return present && present->version == declared.spec.version && present->shape == declared.shape;
}

/// One opening of a replica.
class Preparation {
 public:
  explicit Preparation(sqlite3* db) : db_(db) { load(); }

  CollectionSets run(std::vector<CollectionSpec> declared) {
    std::vector<CollectionTable> filled, served;
    for (auto& spec : declared) {
      const CollectionTable table(std::move(spec));
      filled.push_back(prepare(table));
      auto before = earlier(filled.back());
      served.push_back(before ? std::move(*before) : filled.back());
      present_.erase(table.spec.name);
    }
    for (const auto& [name, sets] : present_) {
      retire(sets.serves);
      retire(sets.fills);
    }
    drop_cursors();
    CollectionSets sets;
    sets.filled = std::make_shared<const CollectionTables>(std::move(filled));
    sets.served = builds_ ? std::make_shared<const CollectionTables>(std::move(served)) : sets.filled;
    return sets;
  }

 private:
  void load() {
    Statement list(db_, "SELECT name, collection, version, shape, role, complete FROM collections");
    while (list.step()) {
      PresentSet one{std::string(list.text(0)), std::string(list.text(1)), std::string(list.text(3)), list.integer(2),
                     list.integer(5) != 0};
      names_.insert(one.set);
      auto& sets = present_[one.collection];
      if (list.text(4) == "serves") sets.serves = std::move(one);
      if (list.text(4) == "fills") sets.fills = std::move(one);
    }
  }

  /// The set that syncs fill.
  CollectionTable prepare(const CollectionTable& declared) {
    auto& sets = present_[declared.spec.name];
    if (is_as_declared(sets.serves, declared)) {
      if (sets.fills) {
        // Another version was begun and is taken back. Its pass has moved the cursors beyond what is in this one.
        retire(sets.fills);
        empty_.push_back(declared.spec);
      }
      return CollectionTable(declared.spec, sets.serves->set);
    }
    if (sets.serves && is_as_declared(sets.fills, declared)) return CollectionTable(declared.spec, sets.fills->set);
    retire(sets.fills);
    const bool is_kept = sets.serves && sets.serves->complete &&
                         spec_of_shape(sets.serves->collection, sets.serves->version, sets.serves->shape).has_value();
    if (!is_kept) retire(sets.serves);
    empty_.push_back(declared.spec);
    return make(declared, is_kept ? "fills" : "serves");
  }

  /// What is read instead of `filled` until that is whole.
  std::optional<CollectionTable> earlier(const CollectionTable& filled) {
    const auto& serves = present_[filled.spec.name].serves;
    if (!serves || serves->set == filled.set) return std::nullopt;
    auto spec = spec_of_shape(serves->collection, serves->version, serves->shape);
    if (!spec) return std::nullopt;
    builds_ = true;
    return CollectionTable(std::move(*spec), serves->set);
  }

  CollectionTable make(const CollectionTable& declared, const char* role) {
    const auto& name = declared.spec.name;
    auto set = name;
    // No name of a collection has a '$'.
    for (int n = 2; names_.contains(set); ++n) set = fmt::format("{}${}", name, n);
    names_.insert(set);
    CollectionTable table(declared.spec, set);
    table.create(db_);
    Statement(db_, "INSERT INTO collections (name, collection, version, shape, role) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind_all(set, name, table.spec.version, table.shape, role)
        .run();
    return table;
  }

  void retire(std::optional<PresentSet>& present) {
    retire(std::as_const(present));
    present.reset();
  }
  void retire(const std::optional<PresentSet>& present) {
    if (present) Statement(db_, "UPDATE collections SET role = 'old' WHERE name = ?1").bind_all(present->set).run();
  }

  /// A cursor says that what stands before it is in the replica. Which ones say so of a collection only the adapter
  /// knows.
  void drop_cursors() {
    if (empty_.empty()) return;
    bool all = false;
    for (const auto& spec : empty_) all = all || spec.cursors.empty();
    if (all) {
      execute(db_, "DELETE FROM cursors");
    } else {
      for (const auto& spec : empty_)
        Statement(db_, "DELETE FROM cursors WHERE substr(CAST(name AS BLOB), 1, ?2) = CAST(?1 AS BLOB)")
            .bind_all(spec.cursors, static_cast<std::int64_t>(spec.cursors.size()))
            .run();
    }
    execute(db_, "DELETE FROM state WHERE name = 'full_done'");
  }

  sqlite3* const db_;
  std::map<std::string, PresentSets> present_;  ///< by collection; those that were declared are taken out
  std::set<std::string> names_;
  std::vector<CollectionSpec> empty_;  ///< to be filled from the beginning
  bool builds_ = false;
};

std::optional<std::string> an_old_set(sqlite3* db) {
  Statement find(db, "SELECT name FROM collections WHERE role = 'old' LIMIT 1");
  if (!find.step()) return std::nullopt;
  return std::string(find.text(0));
}

}  // namespace

CollectionSets prepare_sets(sqlite3* db, std::vector<CollectionSpec> declared) {
  return Preparation(db).run(std::move(declared));
}

void serve_filled_sets(sqlite3* db) {
  execute(db,
          "UPDATE collections SET role = 'old' WHERE role = 'serves' AND collection IN "
          "(SELECT collection FROM collections WHERE role = 'fills');"
          "UPDATE collections SET role = 'serves' WHERE role = 'fills';"
          "UPDATE collections SET complete = 1 WHERE role = 'serves'");
}

void drop_old_sets(sqlite3* db) {
  while (const auto set = an_old_set(db)) {
    Transaction transaction(db);
    CollectionTable::drop(db, *set);
    Statement(db, "DELETE FROM blobs WHERE collection = ?1").bind_all(*set).run();
    Statement(db, "DELETE FROM collections WHERE name = ?1").bind_all(*set).run();
    transaction.commit();
  }
}

}  // namespace krux
