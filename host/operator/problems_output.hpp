// Parts that a sync could not get, as operators are told of them.
#pragma once

#include <vector>

#include "core/replica/replica.hpp"
#include "core/util/json_out.hpp"

namespace krux {

inline void put_problems(JsonWriter& out, const std::vector<SyncProblem>& problems) {
  put_objects(out, "problems", problems, [&](const SyncProblem& problem) {
    put(out, "part", problem.part);
    put(out, "message", problem.message);
    put(out, "since_ms", problem.since_ms);
  });
}

}  // namespace krux
