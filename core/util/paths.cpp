#include "core/util/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::filesystem::path followed(const std::filesystem::path& path) {
  std::error_code error;
  auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) throw invalid_input(fmt::format("{} cannot be followed: {}.", printable(path.string()), error.message()));
  // A slash at the end is no further part.
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

bool lies_in(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  const auto in = followed(inner), out = followed(outer);
  return std::mismatch(out.begin(), out.end(), in.begin(), in.end()).first == out.end();
}

}  // namespace krux
