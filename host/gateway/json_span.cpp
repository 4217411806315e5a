#include "host/gateway/json_span.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "core/util/text.hpp"

namespace krux {
namespace {

/// The positions hold for the iterative parser, which reports a bracket before it takes it, and anything else after.
class Splitter {
 public:
  Splitter(std::string_view text, const rapidjson::MemoryStream& stream, int max_depth)
      : text_(text), stream_(stream), max_depth_(max_depth) {}

  bool Null() { return scalar(JsonKind::kNull, {}); }
  bool Bool(bool) { return scalar(JsonKind::kBool, {}); }
  bool Int(int) { return scalar(JsonKind::kNumber, {}); }
  bool Uint(unsigned) { return scalar(JsonKind::kNumber, {}); }
  bool Int64(std::int64_t) { return scalar(JsonKind::kNumber, {}); }
  bool Uint64(std::uint64_t) { return scalar(JsonKind::kNumber, {}); }
  bool Double(double) { return scalar(JsonKind::kNumber, {}); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return scalar(JsonKind::kNumber, {}); }
  bool String(const char* s, rapidjson::SizeType n, bool) { return scalar(JsonKind::kString, {s, n}); }
  bool Key(const char* s, rapidjson::SizeType n, bool) {
    const std::string_view name(s, n);
    value_from_ = stream_.Tell();
    if (depth_ != 1) return true;
    if (parts.find(name)) return stop(fmt::format("the key \"{}\" stands twice", printable(name)));
    if (++parts.count > kMaxParts) return stop(fmt::format("an object in it has more than {} keys", kMaxParts));
    parts.members.push_back({std::string(name), {}});
    return true;
  }
  bool StartObject() { return open(JsonKind::kObject); }
  bool StartArray() { return open(JsonKind::kArray); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  JsonParts parts;
  std::string why;

 private:
  bool stop(std::string reason) {
    why = std::move(reason);
    return false;
  }
  bool open(JsonKind kind) {
    if (++depth_ > max_depth_) return stop(fmt::format("it is nested more than {} levels deep", max_depth_));
    if (depth_ == 1) parts.kind = kind;
    if (depth_ == 2) {
      member().value.kind = kind;
      opened_at_ = stream_.Tell();
    }
    if (depth_ == 1 || depth_ == 2) value_from_ = stream_.Tell() + 1;
    return true;
  }

  bool close() {
    if (--depth_ == 1) {
      auto& ended = parts.count > kMaxParts ? beyond_ : parts.members.back();
      ended.value.raw = text_.substr(opened_at_, stream_.Tell() + 1 - opened_at_);
      value_from_ = stream_.Tell() + 1;
    }
    return true;
  }

  bool scalar(JsonKind kind, std::string_view text) {
    if (depth_ == 0) parts.kind = kind;
    if (depth_ != 1) return true;
    auto& value = member().value;
    value.kind = kind;
    value.text = text;
    const auto from = text_.find_first_not_of(" \t\r\n:,", value_from_);
    value.raw = text_.substr(from, stream_.Tell() - from);
    value_from_ = stream_.Tell();
    return true;
  }

  /// The member whose value comes now: an object's began with its key.
  JsonMember& member() {
    if (parts.kind == JsonKind::kArray && ++parts.count <= kMaxParts) parts.members.emplace_back();
    return parts.count > kMaxParts ? beyond_ : parts.members.back();
  }

  const std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  const int max_depth_;
  int depth_ = 0;
  JsonMember beyond_;  ///< stands in for members that are only counted
  std::size_t opened_at_ = 0, value_from_ = 0;
};

}  // namespace

const JsonSpan* JsonParts::find(std::string_view name) const {
  if (kind != JsonKind::kObject) return nullptr;
  for (const auto& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::optional<JsonParts> take_apart(std::string_view text, const JsonLimits& limits, std::string& why) {
  if (text.size() > limits.max_bytes) {
    why = fmt::format("it has {} bytes, at most {} are allowed", text.size(), limits.max_bytes);
    return std::nullopt;
  }
  // Numbers are not read here: their text is passed on.
  constexpr unsigned flags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  std::string readable;  // as long as the text, and with the same parts at the same places
  if (text.find("\\u") != std::string_view::npos) {
    readable = text;
    make_halves_readable(readable);
  }
  rapidjson::MemoryStream stream(readable.empty() ? text.data() : readable.data(), text.size());
  Splitter splitter(text, stream, limits.max_depth);
  rapidjson::Reader reader;
  const auto result = reader.Parse<flags>(stream, splitter);
  if (result.IsError()) {
    why = !splitter.why.empty()
              ? splitter.why
              : fmt::format("{} (at byte {})", rapidjson::GetParseError_En(result.Code()), result.Offset());
    return std::nullopt;
  }
  if (stream.Tell() != text.size()) {  // to RapidJSON a NUL byte is the end of the text
    why = fmt::format("it has a NUL byte (at byte {})", stream.Tell());
    return std::nullopt;
  }
  return std::move(splitter.parts);
}

}  // namespace krux
