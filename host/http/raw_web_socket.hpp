// Tests' own WebSocket client: its frames are the test's, good or bad.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/http/raw_client.hpp"

namespace krux::test {

inline constexpr int kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;

struct RawFrame {
  int opcode = -1;  ///< -1: the connection ended without one
  std::string payload;
  bool last = true;
  /// Of a close frame; 0: none.
  int code() const {
    if (opcode != kClose || payload.size() < 2) return 0;
    return static_cast<unsigned char>(payload[0]) << 8 | static_cast<unsigned char>(payload[1]);
  }
};

/// How a frame is sent that is not as it should be, or not the only one of its message.
struct Oddly {
  bool last = true;
  int reserved = 0;  ///< the three bits
  bool masked = true;
  int length_bytes = 0;                 ///< in which its length is written: 1, 3 or 9; 0: as few as do
  std::uint64_t declared = UINT64_MAX;  ///< the length that is written
};

inline std::string frame(int opcode, std::string_view payload, Oddly how = {}) {
  const auto length = how.declared == UINT64_MAX ? payload.size() : how.declared;
  const auto byte = [](auto value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  const int width = how.length_bytes ? how.length_bytes : length < 126 ? 1 : length < 65536 ? 3 : 9;
  std::string out(1, byte((how.last ? 0x80 : 0) | how.reserved << 4 | opcode));
  const int mask_bit = how.masked ? 0x80 : 0;
  out += byte(mask_bit | (width == 1 ? static_cast<int>(length) : width == 3 ? 126 : 127));
  for (int left = width - 2; left >= 0; --left) out += byte(length >> (8 * left));
  if (!how.masked) return out.append(payload);
  const std::string_view mask("\x12\x34\x56\x78");
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) out += byte(payload[i] ^ mask[i % 4]);
  return out;
}

inline std::string close_frame(int code, std::string_view reason = {}) {
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  return frame(kClose, payload.append(reason));
}

inline constexpr const char* kHandshake =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

class RawWebSocket {
 public:
  /// Asks for it, with further headers.
  explicit RawWebSocket(std::uint16_t port, std::string_view path = "/", std::string_view more_headers = {})
      : client(port), answer(client.ask(http_get(path, std::string(kHandshake).append(more_headers)))) {}

  bool is_open() const { return answer.status == 101; }
  bool send(int opcode, std::string_view payload, Oddly how = {}) { return client.send(frame(opcode, payload, how)); }
  bool text(std::string_view payload) { return send(kText, payload); }
  /// The next frame, whatever it is.
  RawFrame receive() {
    const auto head = client.receive_bytes(2);
    if (head.size() < 2) return {};
    RawFrame frame;
    frame.opcode = head[0] & 0x0f;
    frame.last = (head[0] & 0x80) != 0;
    std::uint64_t length = static_cast<unsigned char>(head[1]);  // a server's frame has no mask, nor its bit
    const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (more) length = 0;
    for (const char c : client.receive_bytes(more)) length = length << 8 | static_cast<unsigned char>(c);
    frame.payload = client.receive_bytes(length);
    return frame;
  }
  /// The payload of the next frame, which must be a whole text message; empty where it is something else.
  std::string receive_text() {
    const auto next = receive();
    return next.opcode == kText && next.last ? next.payload : std::string();
  }
  std::string ask(std::string_view payload) {
    text(payload);
    return receive_text();
  }
  /// The code of the close frame that comes next, once it is answered and the server has closed behind it.
  int closed_with() {
    const int code = receive().code();
    client.send(close_frame(code));
    return client.is_closed_by_server() ? code : -1;
  }

  RawClient client;
  RawAnswer answer;
};

}  // namespace krux::test
