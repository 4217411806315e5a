// The parts of an upload, told apart as strictly as RFC 2046 has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux::test::gmail {

struct RelatedPart {
  std::string type;       // in lower case, without parameters
  std::string_view body;  // of the text that was given
};

// Nothing where it is not multipart/related, has no boundary, or does not keep to it: begins with anything else, ends
// without the last one, or has a part without the empty line.
std::optional<std::vector<RelatedPart>> split_related(const std::string& content_type, std::string_view body);

}  // namespace krux::test::gmail
