// What one replica of an account has otherwise than another one that was filled anew.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/replica/replica.hpp"

namespace krux {

struct Difference {
  enum class Kind {
    kMissing,   ///< in the fresh one alone
    kOnlyHere,  ///< in the kept one alone
    kOther,
  };
  Kind kind = Kind::kOther;
  std::string collection, id;
  std::string kept_digest, fresh_digest;  ///< empty: it is not there

  /// The same record with the same contents on either side.
  bool operator==(const Difference&) const = default;
};

/// "missing", "only_here", "other"
const char* to_string(Difference::Kind kind);

struct Comparison {
  std::int64_t compared = 0;  ///< records that either has; of a sample those of the fresh one
  std::vector<Difference> differences;
  bool more = false;  ///< there are more than kMostDifferences: the comparison ended there
};
inline constexpr std::size_t kMostDifferences = 10'000;

/// `whole`: the fresh one has all that the service gives, so that what it lacks is a difference as well. Throws
/// krux::Error: Cancelled where `stop` said so, DatabaseError, NotConnected where one was removed.
Comparison compare_replicas(Replica& kept, Replica& fresh, bool whole, const std::function<bool()>& stop);

/// The members of the record's JSON that differ; none: what differs is searched or sorted by, and shown nowhere.
std::vector<std::string> differing_members(Replica& kept, Replica& fresh, const Difference& difference);

}  // namespace krux
