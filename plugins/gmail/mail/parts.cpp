#include "parts.hpp"

#include <array>
#include <charconv>
#include <mutex>

#include "charset.hpp"
#include "html_tokens.hpp"
#include "sink_stream.hpp"
#include "utf8.hpp"

namespace gmail {

void start_gmime() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_mime_init();
    load_charsets();
  });
}

namespace {

/// While the library is loaded: that is when an adapter in a process of its own may still open files.
[[maybe_unused]] const bool started = [] {  // NOLINT(cert-err58-cpp)
  start_gmime();
  return true;
}();

constexpr std::size_t kPiece = 16 * 1024;

GMimeObject* child_at(GMimeObject* parent, int index) {
  if (!GMIME_IS_MULTIPART(parent)) return nullptr;
  auto* const multipart = GMIME_MULTIPART(parent);
  if (index < 0 || index >= g_mime_multipart_get_count(multipart)) return nullptr;
  return g_mime_multipart_get_part(multipart, index);
}

/// What stands behind "Content-Type:".
std::string_view raw_type(GMimeObject* part) {
  auto* const header = g_mime_header_list_get_header(g_mime_object_get_header_list(part), "Content-Type");
  const auto* const value = header ? g_mime_header_get_raw_value(header) : nullptr;
  return value ? value : "";
}

/// The name of a type that has no subtype, of which GMime reads nothing.
std::string name_of_broken_type(GMimeObject* part) {
  const auto raw = raw_type(part);
  const auto parameters = raw.find(';');
  if (parameters == std::string_view::npos || raw.substr(0, parameters).find('/') != std::string_view::npos) return {};
  const auto whole = "application/octet-stream" + std::string(raw.substr(parameters));
  const Held<GMimeContentType> type(g_mime_content_type_parse(nullptr, whole.c_str()));
  const auto* const name = type ? g_mime_content_type_get_parameter(type.get(), "name") : nullptr;
  return name ? name : "";
}

/// "text", "text/" and nothing at all: what a part is that does not say it (RFC 2045, 5.2).
bool is_plain_by_default(GMimeObject* part) {
  const auto raw = raw_type(part);
  const auto type = lower_ascii(without_blanks(raw.substr(0, raw.find(';'))));
  return type.empty() || type == "text" || type == "text/";
}

std::string parameter(GMimeObject* part, const char* of_disposition, const char* of_type) {
  const auto* value = g_mime_object_get_content_disposition_parameter(part, of_disposition);
  if (!value || !*value) value = g_mime_object_get_content_type_parameter(part, of_type);
  return value ? value : "";
}

/// How many "=" a base64 text lacks at its end: GMime leaves out the bytes that they would end. 0 for one that is long,
/// which would have to be read twice.
std::size_t missing_padding(GMimeStream* text) {
  constexpr std::int64_t kLongest = 4 << 20;
  if (g_mime_stream_length(text) > kLongest) return 0;
  std::size_t letters = 0;
  bool padded = false;
  copy_stream(text, [&](std::string_view piece) {
    for (const char c : piece) {
      padded = padded || c == '=';
      letters += g_ascii_isalnum(c) || c == '+' || c == '/' ? 1 : 0;
    }
    return !padded;
  });
  g_mime_stream_reset(text);
  return padded || letters % 4 < 2 ? 0 : 4 - letters % 4;
}

}  // namespace

ParsedMail::Parts::~Parts() {
  message.reset();
  stream.reset();
  release(bytes);
}

Held<GMimeStream> stream_over(std::string_view bytes, GByteArray*& owner) {
  start_gmime();
  // GMime's memory stream would copy a buffer; this shell only refers to it, and nothing writes to it.
  auto* const data = reinterpret_cast<guint8*>(const_cast<char*>(bytes.data()));  // NOLINT
  owner = g_byte_array_new_take(data, bytes.size());
  Held<GMimeStream> stream(g_mime_stream_mem_new_with_byte_array(owner));
  g_mime_stream_mem_set_owner(GMIME_STREAM_MEM(stream.get()), FALSE);
  return stream;
}

void release(GByteArray* owner) {
  if (!owner) return;
  g_byte_array_steal(owner, nullptr);
  g_byte_array_unref(owner);
}

GMimeObject* find_part(const ParsedMail::Parts& parts, std::string_view part_id) {
  auto* object = parts.message ? g_mime_message_get_mime_part(parts.message.get()) : nullptr;
  if (!object || part_id.empty() || part_id.size() > 200) return nullptr;
  if (!GMIME_IS_MULTIPART(object)) return part_id == "0" ? object : nullptr;
  while (object && !part_id.empty()) {
    const auto level = part_id.substr(0, part_id.find('.'));
    int index = -1;
    const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), index);
    if (error != std::errc() || end != level.data() + level.size()) return nullptr;
    object = child_at(object, index);
    part_id.remove_prefix(std::min(level.size() + 1, part_id.size()));
  }
  return object;
}

Held<GMimeStream> decoded_stream(GMimePart* part) {
  auto* const content = g_mime_part_get_content(part);
  auto* const source = content ? g_mime_data_wrapper_get_stream(content) : nullptr;
  if (!source) return nullptr;
  // A stream of its own: the part's keeps its place.
  Held<GMimeStream> view(g_mime_stream_substream(source, source->bound_start, source->bound_end));
  g_mime_stream_reset(view.get());
  const auto encoding = g_mime_data_wrapper_get_encoding(content);
  if (const auto padding = encoding == GMIME_CONTENT_ENCODING_BASE64 ? missing_padding(view.get()) : 0; padding > 0) {
    const Held<GMimeStream> more(g_mime_stream_mem_new_with_buffer("==", padding));
    Held<GMimeStream> both(g_mime_stream_cat_new());
    g_mime_stream_cat_add_source(GMIME_STREAM_CAT(both.get()), view.get());
    g_mime_stream_cat_add_source(GMIME_STREAM_CAT(both.get()), more.get());
    view = std::move(both);
  }
  Held<GMimeStream> decoded(g_mime_stream_filter_new(view.get()));
  const Held<GMimeFilter> filter(g_mime_filter_basic_new(encoding, FALSE));
  g_mime_stream_filter_add(GMIME_STREAM_FILTER(decoded.get()), filter.get());
  return decoded;
}

bool copy_stream(GMimeStream* from, const ByteSink& sink) {
  std::array<char, kPiece> piece{};
  for (;;) {
    const auto got = g_mime_stream_read(from, piece.data(), piece.size());
    if (got < 0 || (got == 0 && g_mime_stream_eos(from))) return true;
    if (got > 0 && !sink({piece.data(), static_cast<std::size_t>(got)})) return false;
  }
}

std::string mime_type_of(GMimeObject* part) {
  if (GMIME_IS_PART(part) && is_plain_by_default(part)) return "text/plain";
  auto* const type = g_mime_object_get_content_type(part);
  const HeldText text(type ? g_mime_content_type_get_mime_type(type) : nullptr);
  std::string out;
  for (const char c : std::string_view(text ? text.get() : "")) {
    const bool fits = c > ' ' && c < '\x7f' && c != '"' && c != ';' && c != ',';
    if (fits) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return out.empty() || out.size() > 127 ? "application/octet-stream" : out;
}

std::string filename_of(GMimeObject* part) {
  auto name = clean_line(parameter(part, "filename", "name"));
  if (name.empty()) name = clean_line(name_of_broken_type(part));
  for (char& c : name) {
    if (c == '/' || c == '\\') c = '_';
  }
  while (!name.empty() && (name.back() == ' ' || name.back() == '.')) name.pop_back();
  name.erase(0, name.find_first_not_of(' '));
  cut_text(name, kMostFilenameBytes);
  return name;
}

bool ParsedMail::write_part(std::string_view part_id, const ByteSink& sink) const {
  auto* const object = find_part(*parts_, part_id);
  if (!object) return false;
  if (GMIME_IS_PART(object)) {
    const auto stream = decoded_stream(GMIME_PART(object));
    return !stream || copy_stream(stream.get(), sink);
  }
  if (!GMIME_IS_MESSAGE_PART(object)) return false;
  auto* const message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));
  if (!message) return true;
  const SinkStream out(sink);
  g_mime_object_write_to_stream(GMIME_OBJECT(message), nullptr, out.get());
  return out.finish();
}

}  // namespace gmail
