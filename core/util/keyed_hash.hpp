// A hash for tables whose keys somebody else chooses: nobody can know which keys meet in it, as one can of std::hash.
#pragma once

#include <cstddef>
#include <string_view>

namespace krux {

/// SipHash-2-4 with a key of this process.
struct KeyedHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const;
};

}  // namespace krux
