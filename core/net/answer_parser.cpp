#include "core/net/answer_parser.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>

namespace krux {

namespace http = boost::beast::http;
namespace asio = boost::asio;
using boost::beast::string_view;
using boost::system::error_code;

namespace {

/// Hands one answer on; an interim one is swallowed.
class OneAnswer final : public http::basic_parser<false> {
 public:
  explicit OneAnswer(HttpSink& sink) : sink_(sink) {}

  int status() const { return status_; }
  bool interim() const { return status_ < 200; }
  bool stopped() const { return stopped_; }

 private:
  void stop(error_code& error) {
    stopped_ = true;
    error = make_error_code(boost::system::errc::operation_canceled);
  }
  std::size_t pass_on(string_view bytes, error_code& error) {
    if (!bytes.empty() && !sink_.body({bytes.data(), bytes.size()})) stop(error);
    return bytes.size();
  }

  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code& error) override {
    status_ = code;
    // 101 cannot answer a request that asked for no upgrade.
    if (code < 100 || code == 101) error = http::error::bad_status;
  }
  void on_field_impl(http::field name, string_view name_text, string_view value, error_code& error) override {
    if (head_done_) return;  // a trailer
    // Any other coding would be handed on as if it were the body.
    if (name == http::field::transfer_encoding && !boost::beast::iequals(value, "chunked")) {
      error = http::error::bad_transfer_encoding;
    }
    headers_.emplace_back(std::string(name_text.data(), name_text.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code& error) override {
    head_done_ = true;
    if (!interim() && !sink_.head(status_, headers_)) stop(error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code& error) override { return pass_on(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override {
    return pass_on(bytes, error);
  }
  void on_finish_impl(error_code&) override {}

  HttpSink& sink_;
  HttpHeaders headers_;
  int status_ = 0;
  bool head_done_ = false, stopped_ = false;
};

constexpr int kMostInterim = 16;

}  // namespace

struct AnswerParser::Impl {
  Impl(bool answers_head, Limits l, HttpSink& s) : head(answers_head), limits(l), sink(s) { restart(); }

  void restart() {
    parser.emplace(sink);
    head_bytes = 0;
    parser->header_limit(limits.header_bytes);
    parser->body_limit(limits.body_bytes);
    parser->eager(true);
    parser->skip(head);
  }
  State judge(const error_code& error);
  State parse_rest();

  const bool head;
  const Limits limits;
  HttpSink& sink;
  std::optional<OneAnswer> parser;
  std::string rest;            ///< received and not understood yet
  std::size_t head_bytes = 0;  ///< of a head that is not complete yet
  std::string problem;
  bool got_some = false;
  int interim_answers = 0;
};

AnswerParser::State AnswerParser::Impl::judge(const error_code& error) {
  if (parser->stopped()) return State::kStopped;
  if (error == http::error::body_limit) {
    problem = "the answer is larger than the " + std::to_string(limits.body_bytes) + " bytes allowed";
    return State::kTooLarge;
  }
  if (error == http::error::header_limit) {
    problem = "the answer's headers are larger than the " + std::to_string(limits.header_bytes) + " bytes allowed";
    return State::kTooLarge;
  }
  problem = "the answer is not valid HTTP: " + error.message();
  return State::kBroken;
}

AnswerParser::State AnswerParser::Impl::parse_rest() {
  while (!rest.empty()) {
    error_code error;
    const auto used = parser->put(asio::buffer(rest), error);
    rest.erase(0, used);
    // The parser's own limit is for what it gets at once: lines that come one by one would never end.
    if (!parser->is_header_done()) head_bytes += used;
    if (head_bytes > limits.header_bytes) return judge(http::error::header_limit);
    if (error == http::error::need_more) {
      // What is kept is part of a head, a chunk's head or trailers, which have no limit of their own.
      if (rest.size() >= limits.header_bytes) return judge(http::error::header_limit);
      return State::kMore;
    }
    if (error) return judge(error);
    if (!parser->is_done()) continue;
    if (!parser->interim()) return State::kDone;
    if (++interim_answers > kMostInterim) {
      problem = "the service sent interim answers without end";
      return State::kBroken;
    }
    restart();
  }
  return State::kMore;
}

AnswerParser::AnswerParser(bool answers_head, Limits limits, HttpSink& sink)
    : impl_(std::make_unique<Impl>(answers_head, limits, sink)) {}
AnswerParser::~AnswerParser() = default;

AnswerParser::State AnswerParser::feed(std::string_view bytes) {
  impl_->got_some = impl_->got_some || !bytes.empty();
  impl_->rest += bytes;
  return impl_->parse_rest();
}

AnswerParser::State AnswerParser::end() {
  if (impl_->parser->is_header_done() && impl_->parser->need_eof()) {
    error_code error;
    impl_->parser->put_eof(error);
    if (!error) return State::kDone;
  }
  impl_->problem = impl_->got_some ? "the connection was closed before the answer was complete"
                                   : "the connection was closed without an answer";
  return State::kBroken;
}

bool AnswerParser::got_some() const {
  return impl_->got_some;
}
int AnswerParser::status() const {
  return impl_->parser->interim() ? 0 : impl_->parser->status();
}
bool AnswerParser::reusable() const {
  return impl_->parser->is_done() && impl_->parser->keep_alive() && impl_->rest.empty();
}
std::string AnswerParser::problem() const {
  return impl_->problem;
}

}  // namespace krux
