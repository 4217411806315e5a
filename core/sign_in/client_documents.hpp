// Client ID Metadata Documents: clients whose client_id is the https address of what they say of themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/net/http_transport.hpp"
#include "core/sign_in/sign_in.hpp"
#include "core/util/clock.hpp"

namespace krux {

/// Any thread.
class ClientDocuments {
 public:
  /// `transport` decides which addresses may be reached: strangers choose them, so public ones alone.
  ClientDocuments(std::shared_ptr<HttpTransport> transport, Clock& clock)
      : transport_(std::move(transport)), clock_(clock) {}

  /// Whether that client has a document, good or bad.
  static bool is_document_address(std::string_view client_id) { return client_id.starts_with("https://"); }

  /// From memory: nothing where it is to be fetched.
  std::optional<SignInClient> at_hand(const std::string& client_id);
  /// Blocks for five seconds at most, unless it is at hand. Throws SignInRefused: invalid_client; such an answer is not
  /// kept.
  SignInClient fetch(const std::string& client_id);

  static constexpr std::size_t kMost = 64;  ///< at hand at a time
  static constexpr std::uint64_t kMostBytes = 10 << 10;

 private:
  struct Kept {
    SignInClient client;
    std::int64_t until_ms = 0;  ///< since boot
  };
  Kept ask(const std::string& client_id);
  void keep(const Kept& kept);

  const std::shared_ptr<HttpTransport> transport_;
  Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace krux
