// An answer in parts, on its way from those who send them to its connection. Internal to the HTTP server.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

/// Parts that are not sent yet. Holds no lock while it calls somebody.
class ResponseParts : public std::enable_shared_from_this<ResponseParts> {
 public:
  enum class Coding { kChunked, kNone };
  /// `wake` runs on any thread and must do no more than pass on that the connection has something to look at.
  ResponseParts(std::size_t most_unsent, Coding coding, std::function<void()> wake)
      : most_unsent_(most_unsent), coding_(coding), wake_(std::move(wake)) {}

  /// What those hold who send: one object, with whose end the body is cut.
  std::shared_ptr<ResponseStream> make_stream();

  // The connection's.
  enum class Then { kMore, kEnd, kCut };
  struct Piece {
    std::string bytes;  ///< as they go over the wire; perhaps none where it is the last
    Then then;          ///< behind them
  };
  /// Of what was sent as much as is written at a time; the piece before has been written. Nothing: it is woken when
  /// there is more.
  std::optional<Piece> next();
  /// More came than may be unsent.
  bool is_too_much() const;
  /// Nothing more is taken, and whoever wants to hear that the client has gone is told so. What was sent stays.
  void close();

  // The stream's, on any thread.
  bool send(std::string_view bytes);
  void end_with(std::string_view last);
  void let_go();
  void when_gone(std::function<void()> gone);

 private:
  void finish(std::string_view last, bool ended);
  std::string encode(std::string_view bytes, bool last) const;

  const std::size_t most_unsent_;
  const Coding coding_;
  const std::function<void()> wake_;

  mutable std::mutex mutex_;  ///< over what follows
  std::string waiting_;
  std::size_t being_written_ = 0;
  bool open_ = true, ended_ = false, too_much_ = false;
  bool awaited_ = false;  ///< the connection has nothing to write
  std::function<void()> gone_;
};

}  // namespace krux
