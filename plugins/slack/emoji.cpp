#include "emoji.hpp"

#include <algorithm>
#include <charconv>
#include <kruxos/kit/text.hpp>

namespace slack {
namespace {

struct Emoji {
  std::string_view name, characters;
};

/// The common ones, by name. Of others a message itself says the characters where a person wrote it.
constexpr Emoji kEmoji[] = {
    {"+1", "👍"},
    {"-1", "👎"},
    {"100", "💯"},
    {"airplane", "✈️"},
    {"alarm_clock", "⏰"},
    {"ant", "🐜"},
    {"arrow_down", "⬇️"},
    {"arrow_left", "⬅️"},
    {"arrow_right", "➡️"},
    {"arrow_up", "⬆️"},
    {"balloon", "🎈"},
    {"ballot_box_with_check", "☑️"},
    {"bee", "🐝"},
    {"beer", "🍺"},
    {"beers", "🍻"},
    {"bell", "🔔"},
    {"birthday", "🎂"},
    {"blue_heart", "💙"},
    {"blush", "😊"},
    {"bookmark", "🔖"},
    {"boom", "💥"},
    {"brain", "🧠"},
    {"broken_heart", "💔"},
    {"bug", "🐛"},
    {"bulb", "💡"},
    {"cake", "🍰"},
    {"calendar", "📆"},
    {"car", "🚗"},
    {"cat", "🐱"},
    {"chart_with_downwards_trend", "📉"},
    {"chart_with_upwards_trend", "📈"},
    {"clap", "👏"},
    {"coffee", "☕"},
    {"computer", "💻"},
    {"confetti_ball", "🎊"},
    {"confused", "😕"},
    {"construction", "🚧"},
    {"crossed_fingers", "🤞"},
    {"cry", "😢"},
    {"date", "📅"},
    {"disappointed", "😞"},
    {"dog", "🐶"},
    {"earth_africa", "🌍"},
    {"email", "📧"},
    {"exclamation", "❗"},
    {"exploding_head", "🤯"},
    {"eyes", "👀"},
    {"face_with_rolling_eyes", "🙄"},
    {"facepalm", "🤦"},
    {"fire", "🔥"},
    {"first_place_medal", "🥇"},
    {"fist", "✊"},
    {"flushed", "😳"},
    {"gear", "⚙️"},
    {"gift", "🎁"},
    {"green_heart", "💚"},
    {"grimacing", "😬"},
    {"grin", "😁"},
    {"grinning", "😀"},
    {"hammer", "🔨"},
    {"heart", "❤️"},
    {"heart_eyes", "😍"},
    {"heavy_check_mark", "✔️"},
    {"heavy_minus_sign", "➖"},
    {"heavy_plus_sign", "➕"},
    {"hourglass", "⌛"},
    {"house", "🏠"},
    {"hugging_face", "🤗"},
    {"information_source", "ℹ️"},
    {"innocent", "😇"},
    {"joy", "😂"},
    {"key", "🔑"},
    {"kissing_heart", "😘"},
    {"large_blue_circle", "🔵"},
    {"laughing", "😆"},
    {"link", "🔗"},
    {"lock", "🔒"},
    {"loudspeaker", "📢"},
    {"mag", "🔍"},
    {"mask", "😷"},
    {"mega", "📣"},
    {"memo", "📝"},
    {"moneybag", "💰"},
    {"muscle", "💪"},
    {"neutral_face", "😐"},
    {"new", "🆕"},
    {"no_entry", "⛔"},
    {"no_entry_sign", "🚫"},
    {"ok", "🆗"},
    {"ok_hand", "👌"},
    {"open_mouth", "😮"},
    {"package", "📦"},
    {"parrot", "🦜"},
    {"pencil2", "✏️"},
    {"pizza", "🍕"},
    {"point_right", "👉"},
    {"point_up", "☝️"},
    {"poop", "💩"},
    {"pray", "🙏"},
    {"question", "❓"},
    {"rage", "😡"},
    {"rainbow", "🌈"},
    {"raised_hands", "🙌"},
    {"recycle", "♻️"},
    {"red_circle", "🔴"},
    {"relieved", "😌"},
    {"robot_face", "🤖"},
    {"rocket", "🚀"},
    {"rolling_on_the_floor_laughing", "🤣"},
    {"rotating_light", "🚨"},
    {"scream", "😱"},
    {"see_no_evil", "🙈"},
    {"ship", "🚢"},
    {"shrug", "🤷"},
    {"skull", "💀"},
    {"sleeping", "😴"},
    {"slightly_smiling_face", "🙂"},
    {"smile", "😄"},
    {"smiley", "😃"},
    {"snake", "🐍"},
    {"snowflake", "❄️"},
    {"sob", "😭"},
    {"sos", "🆘"},
    {"sparkles", "✨"},
    {"speech_balloon", "💬"},
    {"star", "⭐"},
    {"star2", "🌟"},
    {"stop_sign", "🛑"},
    {"stopwatch", "⏱️"},
    {"stuck_out_tongue", "😛"},
    {"sunglasses", "😎"},
    {"sunny", "☀️"},
    {"sweat_smile", "😅"},
    {"tada", "🎉"},
    {"thinking_face", "🤔"},
    {"thumbsdown", "👎"},
    {"thumbsup", "👍"},
    {"trophy", "🏆"},
    {"turtle", "🐢"},
    {"unamused", "😒"},
    {"unlock", "🔓"},
    {"v", "✌️"},
    {"warning", "⚠️"},
    {"wave", "👋"},
    {"weary", "😩"},
    {"whale", "🐳"},
    {"white_check_mark", "✅"},
    {"wink", "😉"},
    {"worried", "😟"},
    {"wrench", "🔧"},
    {"x", "❌"},
    {"yellow_heart", "💛"},
    {"zap", "⚡"},
    {"zzz", "💤"},
};
static_assert(std::is_sorted(std::begin(kEmoji), std::end(kEmoji),
                             [](const Emoji& a, const Emoji& b) { return a.name < b.name; }));

constexpr std::string_view kSkinTone = "skin-tone-";  // and a number from 2 to 6
constexpr char32_t kFirstSkinTone = 0x1f3fb;

std::string_view known_emoji(std::string_view name) {
  const auto* const at = std::lower_bound(std::begin(kEmoji), std::end(kEmoji), name,
                                          [](const Emoji& one, std::string_view wanted) { return one.name < wanted; });
  return at != std::end(kEmoji) && at->name == name ? at->characters : std::string_view();
}

std::string skin_tone(std::string_view name) {
  std::string out;
  if (name.size() != kSkinTone.size() + 1 || !name.starts_with(kSkinTone)) return out;
  const char digit = name.back();
  if (digit >= '2' && digit <= '6') kruxos::kit::append_utf8(out, kFirstSkinTone + static_cast<char32_t>(digit - '2'));
  return out;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+' || c == '\'';
}

/// The name behind the colon that `text` begins with, where a colon ends it.
std::string_view name_at(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return end > 1 && end < text.size() && text[end] == ':' ? text.substr(1, end - 1) : std::string_view();
}

}  // namespace

std::string with_emoji(std::string_view text, const EmojiCharacters& own) {
  std::string out;
  std::string before;  // the characters of the emoji just before
  while (!text.empty()) {
    const auto plain = text.substr(0, text.find(':'));
    if (!plain.empty()) before.clear();
    out += plain;
    text.remove_prefix(plain.size());
    if (text.empty()) break;
    const auto name = name_at(text);
    const auto mine = own.find(name);
    std::string characters(mine != own.end() ? std::string_view(mine->second) : known_emoji(name));
    const auto tone = before.empty() ? "" : skin_tone(name);
    if (!tone.empty()) characters = before.ends_with(tone) ? "" : tone;
    if (characters.empty() && tone.empty()) {
      before.clear();
      out += ':';
      text.remove_prefix(1);
      continue;
    }
    out += characters;
    before = characters;
    text.remove_prefix(name.size() + 2);
  }
  return out;
}

std::string emoji_of_codes(std::string_view codes) {
  std::string out;
  while (!codes.empty()) {
    const auto code = codes.substr(0, codes.find('-'));
    std::uint32_t value = 0;
    const auto end = std::from_chars(code.data(), code.data() + code.size(), value, 16);
    if (end.ec != std::errc() || end.ptr != code.data() + code.size() || value < 0x20 || value > 0x10ffff ||
        (value >= 0xd800 && value <= 0xdfff))
      return {};
    kruxos::kit::append_utf8(out, value);
    codes.remove_prefix(std::min(codes.size(), code.size() + 1));
  }
  return out;
}

bool is_known_emoji(std::string_view name) {
  return !known_emoji(name).empty();
}

}  // namespace slack
