#include "core/replica/comparison.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/replica/record_list.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

constexpr int kOnePage = 1'000;

/// The records of one collection one after the other, by their ids.
class Walk {
 public:
  Walk(RecordList& list, std::string collection) : list_(list), collection_(std::move(collection)) { more(); }

  const ListedRecord* present() const { return at_ < page_.size() ? &page_[at_] : nullptr; }
  void next() {
    if (++at_ >= page_.size() && !page_.empty()) more();
  }

 private:
  void more() {
    const auto after = page_.empty() ? std::string() : page_.back().id;
    page_ = list_.behind(collection_, after, kOnePage);
    at_ = 0;
  }

  RecordList& list_;
  const std::string collection_;
  std::vector<ListedRecord> page_;
  std::size_t at_ = 0;
};

struct Comparing {
  RecordList& kept;
  RecordList& fresh;
  const std::function<bool()>& stop;
  Comparison found;

  /// False: there is no room for more.
  bool note(Difference difference) {
    if (found.differences.size() >= kMostDifferences) {
      found.more = true;
      return false;
    }
    found.differences.push_back(std::move(difference));
    return true;
  }
  void count() {
    if (++found.compared % kOnePage == 0 && stop())
      throw Error(ErrorCode::kCancelled, "The comparison was ended before it had come to its end.");
  }

  void all_of(const std::string& collection) {
    Walk here(kept, collection), there(fresh, collection);
    while (here.present() || there.present()) {
      count();
      const auto* const a = here.present();
      const auto* const b = there.present();
      bool room = true;
      if (!b || (a && a->id < b->id)) {
        room = note({Difference::Kind::kOnlyHere, collection, a->id, a->digest, {}});
        here.next();
      } else if (!a || b->id < a->id) {
        room = note({Difference::Kind::kMissing, collection, b->id, {}, b->digest});
        there.next();
      } else {
        if (a->digest != b->digest) room = note({Difference::Kind::kOther, collection, a->id, a->digest, b->digest});
        here.next();
        there.next();
      }
      if (!room) return;
    }
  }

  void sample_of(const std::string& collection) {
    for (Walk there(fresh, collection); const auto* const record = there.present(); there.next()) {
      count();
      const auto digest = kept.digest_of(collection, record->id);
      if (digest == record->digest) continue;
      const auto kind = digest ? Difference::Kind::kOther : Difference::Kind::kMissing;
      if (!note({kind, collection, record->id, digest.value_or(""), record->digest})) return;
    }
  }
};

}  // namespace

const char* to_string(Difference::Kind kind) {
  if (kind == Difference::Kind::kMissing) return "missing";
  return kind == Difference::Kind::kOnlyHere ? "only_here" : "other";
}

Comparison compare_replicas(Replica& kept, Replica& fresh, bool whole, const std::function<bool()>& stop) {
  const auto here = kept.list(), there = fresh.list();
  Comparing comparing{*here, *there, stop, {}};
  for (const auto& collection : there->collections()) {
    if (!comparing.found.more) whole ? comparing.all_of(collection) : comparing.sample_of(collection);
  }
  return std::move(comparing.found);
}

std::vector<std::string> differing_members(Replica& kept, Replica& fresh, const Difference& difference) {
  const auto read = [&](Replica& replica) {
    const auto json = json_of_record(*replica.filled_reader(), difference.collection, difference.id);
    return parse_json(json.empty() ? "{}" : json, "a record");
  };
  const auto here = read(kept), there = read(fresh);
  std::set<std::string> differing;
  const auto compare = [&](const JsonValue& one, const JsonValue& other) {
    for (const auto& member : one.GetObject()) {
      const auto* const theirs = find_member(other, view(member.name));
      if (!theirs || to_json(*theirs) != to_json(member.value)) differing.emplace(view(member.name));
    }
  };
  if (here.IsObject() && there.IsObject()) {
    compare(here, there);
    compare(there, here);
  }
  return {differing.begin(), differing.end()};
}

}  // namespace krux
