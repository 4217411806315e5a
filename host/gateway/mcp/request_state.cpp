#include "host/gateway/mcp/request_state.hpp"

#include <sodium.h>

#include <vector>

#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux::mcp {
namespace {

constexpr auto kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
                      kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kLongestSealed = 384 << 10;  // 64 KiB of questions and 16 KiB of state, however they are escaped
constexpr JsonLimits kState{kLongestSealed, 40};
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == 32);

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// The same however the client writes the arguments.
std::string binding(const CallName& call) {
  auto arguments = call.arguments_json;
  try {
    arguments = canonical_json(parse_json(arguments, "the arguments"));
  } catch (const Error&) {
    // What the capability's check refuses afterwards.
  }
  return call.agent_id + '\n' + call.capability + '\n' + sha256_hex(arguments);
}

Error not_of_this_call() {
  return invalid_input(
      "\"requestState\" is none that was given for this call: it was changed, belongs to another agent, tool or other "
      "arguments, or is older than the host's last start. Call again without it.");
}

std::optional<std::string> unsealed_bytes(std::string_view sealed) {
  std::string raw(sealed.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(raw.data()), raw.size(), sealed.data(), sealed.size(), nullptr,
                        &size, nullptr, kVariant) != 0 ||
      size < kNonce + kTag)
    return std::nullopt;
  raw.resize(size);
  return raw;
}

}  // namespace

StateSeal::StateSeal(const Clock& clock) : clock_(clock) {
  randombytes_buf(key_.data(), key_.size());
}

StateSeal::~StateSeal() {
  sodium_memzero(key_.data(), key_.size());
}

std::string StateSeal::seal(const CallName& call, const RequestState& state) const {
  const auto text = json_object([&](JsonWriter& out) {
    put(out, "until", state.until_boot_ms ? state.until_boot_ms : clock_.boot_ms() + kGoodForMs);
    put(out, "round", std::int64_t{state.round});
    put(out, "questions", state.questions_json);
    put(out, "state", state.state);
    put(out, "account", state.account);
  });
  const auto bound_to = binding(call);
  std::vector<unsigned char> sealed(kNonce + text.size() + kTag);
  randombytes_buf(sealed.data(), kNonce);
  crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data() + kNonce, nullptr, bytes(text), text.size(), bytes(bound_to),
                                             bound_to.size(), nullptr, sealed.data(), key_.data());
  std::string out(sodium_base64_encoded_len(sealed.size(), kVariant), '\0');
  sodium_bin2base64(out.data(), out.size(), sealed.data(), sealed.size(), kVariant);
  out.resize(out.find('\0'));
  return out;
}

RequestState StateSeal::open(const CallName& call, std::string_view sealed) const {
  const auto raw = sealed.size() <= kLongestSealed ? unsealed_bytes(sealed) : std::nullopt;
  if (!raw) throw not_of_this_call();
  const auto bound_to = binding(call);
  std::string text(raw->size() - kNonce - kTag, '\0');
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(reinterpret_cast<unsigned char*>(text.data()), nullptr, nullptr,
                                                 bytes(*raw) + kNonce, raw->size() - kNonce, bytes(bound_to),
                                                 bound_to.size(), bytes(*raw), key_.data()) != 0)
    throw not_of_this_call();
  const auto document = parse_json(text, "the state", kState);
  const auto until = find_int(document, "until").value_or(0);
  if (until < clock_.boot_ms())
    throw invalid_input("\"requestState\" has expired: it is good for an hour. Call again without it.");
  return {std::string(find_string(document, "questions").value_or("")),
          std::string(find_string(document, "state").value_or("")),
          std::string(find_string(document, "account").value_or("")),
          static_cast<int>(find_int(document, "round").value_or(0)), until};
}

}  // namespace krux::mcp
