// kruxos/adapter/ask.hpp - how a read ends with questions instead of a result.
#pragma once
#include <kruxos/adapter/call.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos {

namespace detail {

// Always called with its namespace: std::quoted would be found beside it.
inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char digits[] = "0123456789abcdef";
      out += "\\u00";
      out += digits[(c >> 4) & 15];
      out += digits[c & 15];
      continue;
    }
    out += c;
  }
  return out + '"';
}

}  // namespace detail

/// Thrown by read() for what it needs of whoever waits. The same read is called again with the answers
/// (Call::answers_json) and the state, maybe never, at most 8 times for one call of an agent; nothing waits meanwhile.
/// Ask for what the definition lists in `asks`, and for what Call::can_ask says yes to: the host refuses the call
/// otherwise, with a sentence that says what is missing.
///
///   if (call.answers_json().empty())
///     throw InputRequired().form("who", "Whose notes?",
///     R"({"type":"object","properties":{"name":{"type":"string"}}})");
///
/// 1 to 8 questions, each under a name of 1 to 64 letters, digits, '_' and '-'; 64 KiB in all.
class InputRequired : public std::exception {
 public:
  InputRequired() = default;
  /// The questions as one JSON object, as krux_call.ask takes it, for who has them so.
  explicit InputRequired(std::string questions_json) : whole_(std::move(questions_json)) {}

  const char* what() const noexcept override { return "Input is required."; }

  /// A person fills in a form. `schema_json`: a flat object of texts, numbers, yes or no, and choices
  /// (docs/plugin-abi.md).
  InputRequired& form(std::string_view name, std::string_view message, std::string_view schema_json) {
    return add(name,
               "\"kind\":\"form\",\"message\":" + detail::quoted(message) + ",\"schema\":" + std::string(schema_json));
  }
  /// A person goes to an address of one of the definition's hosts, by https.
  InputRequired& url(std::string_view name, std::string_view message, std::string_view address) {
    return add(name, "\"kind\":\"url\",\"message\":" + detail::quoted(message) + ",\"url\":" + detail::quoted(address));
  }
  /// The program's model answers `message`, with at most `max_tokens`. `system`: what it is told besides; may be empty.
  InputRequired& model(std::string_view name, std::string_view message, std::uint32_t max_tokens,
                       std::string_view system = {}) {
    auto body =
        "\"kind\":\"model\",\"message\":" + detail::quoted(message) + ",\"max_tokens\":" + std::to_string(max_tokens);
    if (!system.empty()) body += ",\"system\":" + detail::quoted(system);
    return add(name, body);
  }
  /// The program names the directories that it works in.
  InputRequired& roots(std::string_view name) { return add(name, "\"kind\":\"roots\""); }

  /// What the next call of the read gets as Call::state(); at most 16 KiB of UTF-8. Nobody else can read or change it.
  InputRequired& state(std::string state) {
    state_ = std::move(state);
    return *this;
  }

  /// One JSON object, as krux_call.ask takes it.
  std::string questions_json() const { return whole_.empty() ? "{" + questions_ + "}" : whole_; }
  const std::string& state() const noexcept { return state_; }

 private:
  InputRequired& add(std::string_view name, const std::string& body) {
    if (!questions_.empty()) questions_ += ',';
    questions_ += detail::quoted(name) + ":{" + body + "}";
    return *this;
  }

  std::string questions_, whole_, state_;
};

namespace detail {

/// Throws where the host has not taken them.
inline void ask(const krux_call* call, const InputRequired& input) {
  if (!KRUX_HAS(krux_call, call, ask))
    throw ProxyError(ErrorKind::kUnsupported, "This host cannot ask anybody: it is older than ABI 1.3.").no_effect();
  check(call->ask(call->self, to_abi(input.questions_json()), to_abi(input.state())), "the questions");
}

}  // namespace detail
}  // namespace kruxos
