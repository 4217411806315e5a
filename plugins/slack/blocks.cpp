#include "blocks.hpp"

#include <functional>
#include <set>
#include <utility>

#include "markup.hpp"

namespace slack {
namespace {

constexpr std::size_t kMostMore = 64 << 10;

bool is_word_byte(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

/// What is said, whatever the marks, brackets of links and blanks around it.
template <class Each>
void each_word(std::string_view text, Each&& each) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_byte(text[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    each(text.substr(at, end - at));
    at = end;
  }
}

/// What blocks and attachments say, as far as it has words that were not said before.
class Lines {
 public:
  explicit Lines(std::string_view shown) { say(shown); }

  std::string more;
  bool has_words = false;  ///< since somebody last looked, whether they were said before or not

  void add(std::string_view text) { add(text, text); }
  /// `words`: what of the text is compared.
  void add(std::string_view text, std::string_view words) {
    if (!says_more(words) || more.size() >= kMostMore) return;
    say(words);
    if (!more.empty()) more += '\n';
    more += text;
  }
  bool says_more(std::string_view text) {
    bool is_new = false;
    each_word(text, [&](std::string_view word) {
      has_words = true;
      is_new = is_new || !said_.contains(word);
    });
    return is_new;
  }

 private:
  void say(std::string_view text) {
    each_word(text, [&](std::string_view word) { said_.emplace(word); });
  }

  std::set<std::string, std::less<>> said_;
};

/// A text object ({"type": "mrkdwn", "text": ...}), or a text itself, which is markup.
std::string text_object(const Json& holder, std::string_view name) {
  const auto* object = member(holder, name);
  if (!object) return {};
  if (!object->IsObject()) return shown_text(text_of(holder, name));
  const auto text = text_of(*object, "text");
  return text_of(*object, "type") == "plain_text" ? shown_plain(text) : shown_text(text);
}

/// Rich text, which is what people write: its elements one behind another.
class RichText {
 public:
  explicit RichText(EmojiCharacters& emoji) : emoji_(emoji) {}

  std::string text;   ///< as agents read it
  std::string words;  ///< of it, without names and emoji, which the message's own text may have in another form

  void add(const Json& element) {  // NOLINT(misc-no-recursion): as deep as the parser lets an answer be
    const auto type = text_of(element, "type");
    if (const auto* parts = array_of(element, "elements")) {
      for (const auto& part : parts->GetArray()) add(part);
      if (type == "rich_text") return;
      if (!text.empty() && text.back() != '\n') text += '\n';
      words += ' ';
      return;
    }
    const auto part = leaf(element, type);
    text += part;
    words += type == "text" || type == "link" ? part : " ";
  }

 private:
  std::string leaf(const Json& element, std::string_view type) {
    if (type == "link") {
      const auto address = text_of(element, "url"), label = text_of(element, "text");
      return shown_text("<" + std::string(address) + (label.empty() ? "" : "|" + std::string(label)) + ">");
    }
    if (type == "emoji") return emoji(element);
    if (type == "user") return "<@" + std::string(text_of(element, "user_id")) + ">";
    if (type == "channel") return "<#" + std::string(text_of(element, "channel_id")) + ">";
    if (type == "broadcast") return "@" + std::string(text_of(element, "range"));
    if (type == "date") return shown_plain(text_of(element, "fallback"));
    return shown_plain(text_of(element, "text"));
  }

  std::string emoji(const Json& element) {
    const std::string name(text_of(element, "name"));
    const auto characters = emoji_of_codes(text_of(element, "unicode"));
    if (!name.empty() && !characters.empty()) emoji_[name] = characters;
    const auto tone = integer_of(element, "skin_tone");
    return ":" + name + (tone >= 2 && tone <= 6 ? "::skin-tone-" + std::to_string(tone) + ":" : ":");
  }

  EmojiCharacters& emoji_;
};

class BlockReader {
 public:
  explicit BlockReader(std::string_view shown) : lines_(shown) {}

  BlockTexts read(const Json& message, std::string_view shown) {
    blocks(message);
    if (const auto* list = array_of(message, "attachments")) {
      for (const auto& one : list->GetArray()) attachment(one);
    }
    BlockTexts out{std::move(lines_.more), {}, std::move(emoji_)};
    cut_text(out.more, kMostMore);
    const bool has_marks = shown.find_first_of("*_~`") != std::string_view::npos;
    if (has_marks && !rich_says_more_ && rich_ != shown) out.unmarked = std::move(rich_);
    return out;
  }

 private:
  void blocks(const Json& holder) {
    const auto* list = array_of(holder, "blocks");
    if (!list) return;
    for (const auto& one : list->GetArray()) block(one);
  }

  void block(const Json& one) {
    if (text_of(one, "type") == "rich_text") {
      RichText rich(emoji_);
      rich.add(one);
      while (!rich.text.empty() && rich.text.back() == '\n') rich.text.pop_back();
      rich_says_more_ = rich_says_more_ || lines_.says_more(rich.words);
      lines_.add(rich.text, rich.words);
      rich_ += (rich_.empty() ? "" : "\n") + rich.text;
      return;
    }
    for (const char* name : {"title", "text", "description", "alt_text"}) lines_.add(text_object(one, name));
    for (const char* name : {"fields", "elements"}) {
      const auto* list = array_of(one, name);
      if (!list) continue;
      for (const auto& part : list->GetArray()) small_part(part);
    }
    if (const auto* accessory = member(one, "accessory")) small_part(*accessory);
  }

  /// A field, a part of a context, a button, an image.
  void small_part(const Json& part) {
    const auto* text = member(part, "text");
    if (text && text->IsString()) {
      lines_.add(text_of(part, "type") == "plain_text" ? shown_plain(text_of(part, "text"))
                                                       : shown_text(text_of(part, "text")));
    } else {
      lines_.add(text_object(part, "text"));
    }
    lines_.add(shown_plain(text_of(part, "alt_text")));
  }

  void attachment(const Json& one) {
    lines_.has_words = false;
    for (const char* name : {"pretext", "author_name", "title", "text"}) lines_.add(text_object(one, name));
    if (const auto* list = array_of(one, "fields")) {
      for (const auto& field : list->GetArray()) {
        const auto title = text_object(field, "title"), value = text_object(field, "value");
        lines_.add(title.empty() || value.empty() ? title + value : title + ": " + value);
      }
    }
    blocks(one);
    lines_.add(text_object(one, "footer"));
    if (!lines_.has_words) lines_.add(text_object(one, "fallback"));
  }

  Lines lines_;
  EmojiCharacters emoji_;
  std::string rich_;
  bool rich_says_more_ = false;
};

}  // namespace

BlockTexts texts_of_blocks(const Json& message, std::string_view shown) {
  return BlockReader(shown).read(message, shown);
}

}  // namespace slack
