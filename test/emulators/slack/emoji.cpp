#include "emulators/slack/emoji.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {

struct Emoji {
  std::string_view name, characters;
};

constexpr Emoji kEmoji[] = {
    {"grinning", "😀"},
    {"smiley", "😃"},
    {"smile", "😄"},
    {"grin", "😁"},
    {"laughing", "😆"},
    {"sweat_smile", "😅"},
    {"joy", "😂"},
    {"rolling_on_the_floor_laughing", "🤣"},
    {"blush", "😊"},
    {"innocent", "😇"},
    {"slightly_smiling_face", "🙂"},
    {"wink", "😉"},
    {"heart_eyes", "😍"},
    {"kissing_heart", "😘"},
    {"stuck_out_tongue", "😛"},
    {"sunglasses", "😎"},
    {"thinking_face", "🤔"},
    {"neutral_face", "😐"},
    {"unamused", "😒"},
    {"face_with_rolling_eyes", "🙄"},
    {"grimacing", "😬"},
    {"relieved", "😌"},
    {"sleeping", "😴"},
    {"mask", "😷"},
    {"exploding_head", "🤯"},
    {"confused", "😕"},
    {"worried", "😟"},
    {"open_mouth", "😮"},
    {"flushed", "😳"},
    {"cry", "😢"},
    {"sob", "😭"},
    {"scream", "😱"},
    {"disappointed", "😞"},
    {"weary", "😩"},
    {"rage", "😡"},
    {"skull", "💀"},
    {"poop", "💩"},
    {"robot_face", "🤖"},
    {"wave", "👋"},
    {"ok_hand", "👌"},
    {"v", "✌️"},
    {"crossed_fingers", "🤞"},
    {"point_up", "☝️"},
    {"point_right", "👉"},
    {"+1", "👍"},
    {"-1", "👎"},
    {"fist", "✊"},
    {"clap", "👏"},
    {"raised_hands", "🙌"},
    {"pray", "🙏"},
    {"muscle", "💪"},
    {"eyes", "👀"},
    {"brain", "🧠"},
    {"shrug", "🤷"},
    {"facepalm", "🤦"},
    {"heart", "❤️"},
    {"blue_heart", "💙"},
    {"green_heart", "💚"},
    {"yellow_heart", "💛"},
    {"broken_heart", "💔"},
    {"100", "💯"},
    {"boom", "💥"},
    {"zzz", "💤"},
    {"tada", "🎉"},
    {"confetti_ball", "🎊"},
    {"balloon", "🎈"},
    {"gift", "🎁"},
    {"trophy", "🏆"},
    {"first_place_medal", "🥇"},
    {"fire", "🔥"},
    {"star", "⭐"},
    {"star2", "🌟"},
    {"sparkles", "✨"},
    {"zap", "⚡"},
    {"sunny", "☀️"},
    {"rainbow", "🌈"},
    {"snowflake", "❄️"},
    {"coffee", "☕"},
    {"beer", "🍺"},
    {"beers", "🍻"},
    {"pizza", "🍕"},
    {"cake", "🍰"},
    {"birthday", "🎂"},
    {"rocket", "🚀"},
    {"ship", "🚢"},
    {"airplane", "✈️"},
    {"car", "🚗"},
    {"house", "🏠"},
    {"computer", "💻"},
    {"bug", "🐛"},
    {"ant", "🐜"},
    {"bee", "🐝"},
    {"dog", "🐶"},
    {"cat", "🐱"},
    {"turtle", "🐢"},
    {"snake", "🐍"},
    {"whale", "🐳"},
    {"parrot", "🦜"},
    {"bell", "🔔"},
    {"mega", "📣"},
    {"loudspeaker", "📢"},
    {"email", "📧"},
    {"calendar", "📆"},
    {"date", "📅"},
    {"memo", "📝"},
    {"pencil2", "✏️"},
    {"bulb", "💡"},
    {"bookmark", "🔖"},
    {"link", "🔗"},
    {"lock", "🔒"},
    {"unlock", "🔓"},
    {"key", "🔑"},
    {"hammer", "🔨"},
    {"wrench", "🔧"},
    {"gear", "⚙️"},
    {"mag", "🔍"},
    {"chart_with_upwards_trend", "📈"},
    {"chart_with_downwards_trend", "📉"},
    {"package", "📦"},
    {"moneybag", "💰"},
    {"hourglass", "⌛"},
    {"alarm_clock", "⏰"},
    {"stopwatch", "⏱️"},
    {"white_check_mark", "✅"},
    {"heavy_check_mark", "✔️"},
    {"ballot_box_with_check", "☑️"},
    {"x", "❌"},
    {"question", "❓"},
    {"exclamation", "❗"},
    {"warning", "⚠️"},
    {"no_entry", "⛔"},
    {"no_entry_sign", "🚫"},
    {"rotating_light", "🚨"},
    {"construction", "🚧"},
    {"stop_sign", "🛑"},
    {"red_circle", "🔴"},
    {"large_blue_circle", "🔵"},
    {"heavy_plus_sign", "➕"},
    {"heavy_minus_sign", "➖"},
    {"arrow_right", "➡️"},
    {"arrow_left", "⬅️"},
    {"arrow_up", "⬆️"},
    {"arrow_down", "⬇️"},
    {"recycle", "♻️"},
    {"information_source", "ℹ️"},
    {"new", "🆕"},
    {"ok", "🆗"},
    {"sos", "🆘"},
    {"hugging_face", "🤗"},
    {"see_no_evil", "🙈"},
    {"speech_balloon", "💬"},
    {"earth_africa", "🌍"},
};

constexpr std::string_view kEmojiStyle = "\xEF\xB8\x8F";  // U+FE0F: shown in colour; often left out

std::string_view without_style(std::string_view characters) {
  if (characters.ends_with(kEmojiStyle)) characters.remove_suffix(kEmojiStyle.size());
  return characters;
}

}  // namespace

std::string shown_emoji_name(const std::string& name) {
  if (name == "thumbsup") return "+1";
  if (name == "thumbsdown") return "-1";
  return name;
}

bool is_emoji_name(std::string_view name) {
  return std::any_of(std::begin(kEmoji), std::end(kEmoji), [&](const Emoji& one) { return one.name == name; });
}

std::string_view emoji_at(std::string_view text, std::size_t& bytes) {
  if (text.empty() || static_cast<unsigned char>(text.front()) < 0x80) return {};
  for (const Emoji& one : kEmoji) {
    const auto plain = without_style(one.characters);
    if (!text.starts_with(plain)) continue;
    bytes = plain.size() + (text.substr(plain.size()).starts_with(kEmojiStyle) ? kEmojiStyle.size() : 0);
    return one.name;
  }
  return {};
}

}  // namespace krux::test::slack
