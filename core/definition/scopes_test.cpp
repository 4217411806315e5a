#include "core/definition/scopes.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Texts = std::vector<std::string>;

TEST_CASE("a granted scope brings what it includes, in turn and also in a circle", "[oauth]") {
  const ImpliedScopes implied{{"all", {"write"}}, {"write", {"read", "all"}}};
  CHECK(missing_from(implied, {"all"}, {"read", "write", "all"}).empty());
  CHECK(missing_from(implied, {"read"}, {"read", "write"}) == Texts{"write"});
  CHECK(missing_from({}, {"all"}, {"read"}) == Texts{"read"});
  CHECK(missing_from(implied, {}, {"read"}) == Texts{"read"});
  CHECK(with_implied(implied, {"write", "write"}).size() == 3);
}

}  // namespace KRUXOS_TEST_FILE
