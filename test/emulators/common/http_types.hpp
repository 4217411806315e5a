// What passes between the HTTP server and the emulator. No sockets here, so that everything above can be tested
// without any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace krux::test::emulator {

struct HttpRequest {
  std::string method;                          // "GET", "POST"
  std::string path;                            // still percent-encoded, without the query
  std::string query;                           // what follows '?'
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& lower_case_name) const {
    auto found = headers.find(lower_case_name);
    return found == headers.end() ? "" : found->second;
  }
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Status line, headers and body. extra_length is added to the Content-Length that the body really has.
std::string serialize(const HttpAnswer& answer, std::size_t extra_length = 0);

// One request's way back. Calls after the connection has gone do nothing; exactly one of answer, raw, drip, close and
// reset is called for a request, or none as long as it hangs.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void answer(const HttpAnswer& answer) = 0;
  virtual void raw_then_close(std::string bytes) = 0;
  // chunk_bytes at a time, one every interval_ms of real time.
  virtual void drip(const HttpAnswer& answer, std::size_t chunk_bytes, std::int64_t interval_ms) = 0;
  virtual void close() = 0;
  virtual void reset() = 0;  // a TCP reset
  virtual bool is_open() const = 0;
};

// Runs a function once after so many milliseconds of real time, on the emulator's thread.
using RunLater = std::function<void(std::int64_t delay_ms, std::function<void()>)>;

}  // namespace krux::test::emulator
