#include "core/vault/secret.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <type_traits>

#include "core/vault/seal.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::size_t wiped_bytes = 0, dirty_bytes = 0;

void count(const char* bytes, std::size_t size) {
  wiped_bytes += size;
  dirty_bytes += static_cast<std::size_t>(std::count_if(bytes, bytes + size, [](char c) { return c != 0; }));
}

struct Observed {
  Observed() {
    wiped_bytes = dirty_bytes = 0;
    observe_wiped_secrets(count);
  }
  ~Observed() { observe_wiped_secrets(nullptr); }
};

}  // namespace

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);

TEST_CASE("a secret's memory is wiped when it goes, and once") {
  const Observed observed;
  {
    Secret a("token-1");
    Secret b(std::move(a));
    CHECK(a.empty());  // NOLINT(bugprone-use-after-move): that is what is asked
    CHECK(b.reveal() == "token-1");
    CHECK(wiped_bytes == 0);
    b = Secret("other");
    CHECK(wiped_bytes == 7);
    Secret& same = b;
    b = std::move(same);
    CHECK(b.reveal() == "other");
  }
  CHECK(wiped_bytes == 12);
  CHECK(dirty_bytes == 0);
}

TEST_CASE("an empty secret is empty") {
  const Secret a, b("");
  CHECK(a.empty());
  CHECK(b.reveal().empty());
}

TEST_CASE("what is sealed opens only for what it belongs to") {
  const Secret key(std::string(32, 'k')), other(std::string(32, 'o'));
  const auto sealed = seal(key, "text", {"a", "bc"});
  CHECK(sealed != seal(key, "text", {"a", "bc"}));
  REQUIRE(open_sealed(key, sealed, {"a", "bc"}));
  CHECK(open_sealed(key, sealed, {"a", "bc"})->reveal() == "text");
  CHECK_FALSE(open_sealed(key, sealed, {"ab", "c"}));
  CHECK_FALSE(open_sealed(other, sealed, {"a", "bc"}));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK_FALSE(open_sealed(key, damaged, {"a", "bc"}));
    CHECK_FALSE(open_sealed(key, std::string_view(sealed).substr(0, i), {"a", "bc"}));
  }
}

}  // namespace KRUXOS_TEST_FILE
