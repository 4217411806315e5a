// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// The name among `known` that `given` is most probably a slip of (case aside, at most a third of its letters wrong);
/// empty when none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string>& known);

/// ` (did you mean "x"?)` or nothing: to be put behind the wrong name in a sentence.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace krux
