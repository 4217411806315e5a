// What a message needs of the replica before it is put: the names in it.
#include "markup.hpp"
#include "sync.hpp"
#include "sync_step.hpp"

namespace slack {
namespace {

// So many remembered authors are enough to spare putting each again with each of its messages.
constexpr std::size_t kMostAuthors = 10'000;

}  // namespace

/// Its author, where that is none of Slack's users, and the names of those whom it mentions.
void Sync::learn(Step& step, Message& message) {
  if (const auto author = author_record(message)) {
    if (authors_.size() >= kMostAuthors) authors_.clear();
    if (authors_.insert(author->id + "\n" + author->text).second) step.store.put(*author);
  }
  const auto reader = step.store.reader();
  for (const auto id : mentioned(message.text)) {
    const auto json = reader.get(kUsers, id);
    if (!json) continue;
    const auto user = parse(*json);
    if (user.HasParseError()) continue;
    for (const char* of : {"name", "display_name"}) {
      if (const auto name = text_of(user, of); !name.empty()) message.mentions.emplace_back(name);
      if (text_of(user, "display_name") == text_of(user, "name")) break;
    }
  }
}

}  // namespace slack
