#include "emulators/gmail/related.hpp"

#include "emulators/common/text.hpp"
#include "emulators/gmail/mime.hpp"

namespace krux::test::gmail {
namespace {

using namespace emulator;

std::optional<RelatedPart> read_part(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  RelatedPart part;
  for (const Header& header : parse_headers(text.substr(0, end + 2))) {
    if (same_name(header.name, "Content-Type"))
      part.type = lower(header.value.substr(0, header.value.find_first_of("; ")));
    // Uploads are bytes as they are.
    if (same_name(header.name, "Content-Transfer-Encoding") && lower(header.value) != "binary") return std::nullopt;
  }
  part.body = text.substr(end + 4);
  return part;
}

}  // namespace

std::optional<std::vector<RelatedPart>> split_related(const std::string& content_type, std::string_view body) {
  const Part described = parse_mail("Content-Type: " + content_type + "\r\n\r\n");
  if (described.mime_type != "multipart/related" || described.boundary.empty()) return std::nullopt;
  const std::string first = "--" + described.boundary, next = "\r\n" + first;
  if (body.substr(0, 2) == "\r\n") body.remove_prefix(2);
  if (body.substr(0, first.size()) != first) return std::nullopt;
  body.remove_prefix(first.size());
  std::vector<RelatedPart> parts;
  while (body.substr(0, 2) != "--") {
    if (body.substr(0, 2) != "\r\n") return std::nullopt;
    const std::size_t end = body.find(next);
    if (end == std::string_view::npos) return std::nullopt;
    const auto part = read_part(body.substr(2, end - 2));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    body.remove_prefix(end + next.size());
  }
  const bool ended = body == "--" || body == "--\r\n";
  return ended ? std::optional(parts) : std::nullopt;
}

}  // namespace krux::test::gmail
