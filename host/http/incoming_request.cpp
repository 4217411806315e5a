#include "host/http/incoming_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace krux {
namespace {

namespace http = boost::beast::http;

bool is_served_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> served{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return std::find(served.begin(), served.end(), method) != served.end();
}

std::string_view as_std(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// The request without its body and its sender.
ServerRequest request_of(const http::request<http::empty_body>& message) {
  const auto method = as_std(message.method_string());
  ServerRequest request;
  request.head_alone = method == "HEAD";
  request.method = request.head_alone ? "GET" : std::string(method);
  const auto target = as_std(message.target());
  const auto query = target.find('?');
  request.path = target.substr(0, query);
  if (query != std::string_view::npos) request.query = target.substr(query + 1);
  for (const auto& field : message) {
    std::string name(as_std(field.name_string()));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    request.headers.emplace_back(std::move(name), std::string(as_std(field.value())));
  }
  return request;
}

}  // namespace

struct IncomingRequest::Header {
  explicit Header(std::size_t most_bytes) {
    parser.eager(false);
    parser.header_limit(static_cast<std::uint32_t>(most_bytes));
    parser.body_limit(boost::none);  // which limit counts is known behind the header alone
  }
  http::request_parser<http::empty_body> parser;  // of the header: the body's bytes never reach it
};

IncomingRequest::IncomingRequest(const HttpLimits& limits)
    : most_header_(limits.header_bytes),
      most_body_(limits.body_bytes),
      header_(std::make_unique<Header>(limits.header_bytes)) {}

IncomingRequest::~IncomingRequest() = default;

std::size_t IncomingRequest::take(std::string_view bytes) {
  if (state_ == State::kHeader) return take_header(bytes);
  return state_ == State::kBody ? take_body(bytes) : 0;
}

bool IncomingRequest::refuse(int status, std::string message) {
  refusal_ = {status, std::move(message)};
  state_ = State::kRefused;
  file_.reset();  // its room is wanted before the client has gone
  return false;
}

std::size_t IncomingRequest::take_header(std::string_view bytes) {
  boost::system::error_code error;
  const auto used = header_->parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  header_bytes_ += used;
  const bool waits = error == http::error::need_more;
  // The parser looks at what it is given at a time, and would take lines without end.
  if (error == http::error::header_limit || header_bytes_ + (waits ? bytes.size() - used : 0) > most_header_) {
    refuse(431, fmt::format("The request's header is larger than {} bytes.", most_header_));
  } else if (error && !waits) {
    refuse(400, fmt::format("This is not an HTTP request: {}.", error.message()));
  } else if (header_->parser.is_header_done() && header_is_fit()) {
    read_header();
  }
  return used;
}

/// Checks what the parser leaves open. False when the request was refused.
bool IncomingRequest::header_is_fit() {
  const auto& message = header_->parser.get();
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() == 11)) return refuse(400, "The request needs one Host header.");
  if (!is_served_method(as_std(message.method_string()))) return refuse(405, "This method is not served here.");
  if (message.target().empty() || message.target().front() != '/')
    return refuse(400, "The request's target must be a path that begins with '/'.");
  // Of another coding only the sender knows where the body ends, and what follows would be taken for a request.
  const auto coding = message.find(http::field::transfer_encoding);
  if (message.count(http::field::transfer_encoding) > 1 ||
      (coding != message.end() && !boost::beast::iequals(coding->value(), "chunked")))
    return refuse(501, "Of Transfer-Encoding, only chunked is known: send the body so, or with its Content-Length.");
  // The parser takes "1, 1" for 1. Who stands between may not.
  const auto length = message.find(http::field::content_length);
  if (message.count(http::field::content_length) > 1 ||
      (length != message.end() && as_std(length->value()).find_first_not_of("0123456789") != std::string_view::npos))
    return refuse(400, "Content-Length must stand there once, as one number of bytes.");
  const auto expects = message.find(http::field::expect);
  if (expects != message.end() && !boost::beast::iequals(expects->value(), "100-continue"))
    return refuse(417, "Of Expect, only 100-continue is known.");
  return true;
}

void IncomingRequest::read_header() {
  const auto& parser = header_->parser;
  const auto& message = parser.get();
  request_ = request_of(message);
  chunked_ = parser.chunked();
  length_ = chunked_ ? 0 : parser.content_length().value_or(0);
  keep_alive_ = message.keep_alive();
  old_version_ = message.version() == 10;
  // Such a client knows of no other protocol: whoever stands between has passed the header on.
  if (old_version_) std::erase_if(request_.headers, [](const auto& header) { return header.first == "upgrade"; });
  waits_for_continue_ = has_body() && !old_version_ && message.count(http::field::expect) > 0;
  header_.reset();
  state_ = State::kHeaderRead;
}

void IncomingRequest::accept(const std::optional<BodyToFile>& to_file) {
  if (to_file) most_body_ = to_file->most_bytes;
  if (is_too_large()) return;
  if (to_file) file_.emplace(*to_file);
  // As much beside the body as may stand before it.
  if (chunked_) chunks_.emplace(most_body_, most_header_);
  state_ = has_body() ? State::kBody : State::kDone;
}

bool IncomingRequest::is_too_large() {
  if (length_ <= most_body_) return false;
  return !refuse(413, fmt::format("The request's body is larger than {} bytes.", most_body_));
}

std::size_t IncomingRequest::take_body(std::string_view bytes) {
  auto rest = bytes;
  if (chunks_) {
    body_came(chunks_->take(rest, request_.body));
  } else {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(length_, rest.size()));
    request_.body.append(rest.substr(0, n));
    rest.remove_prefix(n);
    length_ -= n;
    body_came(length_ == 0 ? ChunkedBody::State::kDone : ChunkedBody::State::kMore);
  }
  return bytes.size() - rest.size();
}

void IncomingRequest::body_came(ChunkedBody::State state) {
  using Coding = ChunkedBody::State;
  if (state == Coding::kBroken) {
    refuse(400, "This is not an HTTP request: its body is not in the chunked coding.");
  } else if (state == Coding::kTooLarge) {
    refuse(413, fmt::format("The request's body is larger than {} bytes.", most_body_));
  } else if (state == Coding::kTooLong) {
    refuse(431,
           fmt::format("The extensions and trailers of the request's body have more than {} bytes.", most_header_));
  } else {
    keep_body();
    if (state == Coding::kDone && state_ == State::kBody) state_ = State::kDone;
  }
}

void IncomingRequest::keep_body() {
  if (!file_) return;
  if (!file_->write(request_.body)) {
    refuse(503, "The host's disk does not take the body. Ask the operator to look at the space that is left.");
    return;
  }
  request_.body.clear();
}

std::optional<std::int64_t> IncomingRequest::allowed_ms() const {
  return file_ ? std::optional(file_->allowed_ms()) : std::nullopt;
}

ServerRequest IncomingRequest::finish() {
  if (file_) request_.body_file = file_->finish();
  return std::move(request_);
}

}  // namespace krux
