#include "core/definition/correspondence_parser.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/definition/definition_loader.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {
namespace {

constexpr std::string_view kAddressPlace = "{address}";
constexpr std::size_t kMostTexts = 16, kMostTags = 16, kLongestTag = 255;

std::string plain_name(const YamlValue& value) {
  auto name = value.text();
  if (!is_plain_name(name)) value.fail("a name has small letters, digits and _, at most 32, a letter first.");
  return name;
}

std::string member_path(const YamlValue& value) {
  auto path = value.text();
  if (!is_member_path(path)) value.fail("a member of a record is named as \"thread_id\" or \"from.address\".");
  return path;
}

}  // namespace

CorrespondenceDefinition parse_correspondence(const YamlValue& value) {
  const YamlMap map(value, {"collection", "words", "conversation", "sender", "proof", "bodies", "sent", "without", "to",
                            "from", "address"});
  CorrespondenceDefinition found;
  found.collection = plain_name(map.at("collection"));
  if (const auto v = map.find("without")) {
    for (const auto& tag : v->list(kMostTags)) found.without_tags.push_back(tag.line(kLongestTag));
  }
  if (const auto v = map.find("words")) found.words = v->line(300);
  if (const auto v = map.find("conversation")) found.conversation = member_path(*v);
  if (const auto v = map.find("sender")) found.sender = member_path(*v);
  if (const auto v = map.find("proof")) found.proof = member_path(*v);
  if (const auto v = map.find("bodies")) {
    for (const auto& blob : v->list(kMostTexts)) found.bodies.push_back(plain_name(blob));
  }
  constexpr const char* kOfPeople[] = {"sent", "to", "from", "address"};
  const bool has_people =
      std::any_of(std::begin(kOfPeople), std::end(kOfPeople), [&](const char* key) { return map.find(key); });
  if (!has_people) return found;
  found.sent_tag = map.at("sent").line(kLongestTag);
  for (const auto& text : map.at("to").list(kMostTexts)) found.to.push_back(plain_name(text));
  if (found.to.empty()) map.at("to").fail("name the texts that hold a message's recipients.");
  found.from = plain_name(map.at("from"));
  const auto address = map.at("address");
  const auto form = address.line(64);
  const auto at = form.find(kAddressPlace);
  if (at == std::string::npos) address.fail("{address} stands for the address, such as \"<{address}>\".");
  found.before_address = form.substr(0, at);
  found.behind_address = form.substr(at + kAddressPlace.size());
  return found;
}

}  // namespace krux
