#include "core/util/paths.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using krux::lies_in;

TEST_CASE("a path lies in a directory wherever links and dots lead, and whether it is there or not") {
  const support::Scratch scratch;
  const auto data = scratch.path() / "data";
  std::filesystem::create_directory(data);
  std::filesystem::create_directory_symlink(data, scratch.path() / "link");
  CHECK(lies_in(data, data));
  CHECK(lies_in(data / "key", data));
  CHECK(lies_in(scratch.path() / "link" / "not" / "there", data));
  CHECK(lies_in(data / "key", scratch.path() / "link"));
  CHECK(lies_in(scratch.path() / "other" / ".." / "data" / "key", data));
  CHECK(lies_in(scratch.path() / "none" / "key", scratch.path() / "none/"));
  CHECK_FALSE(lies_in(data / ".." / "key", data));
  CHECK_FALSE(lies_in(scratch.path() / "data-2", data));
  CHECK_FALSE(lies_in(scratch.path(), data));
  std::filesystem::create_symlink("loop", scratch.path() / "loop");
  CHECK_THROWS_AS(lies_in(scratch.path() / "loop" / "key", data), krux::Error);
}

}  // namespace KRUXOS_TEST_FILE
