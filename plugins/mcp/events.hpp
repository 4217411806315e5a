// A stream of server-sent events, as far as messages are concerned.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

/// Lines end with LF, CR or both, wherever the stream is cut.
class Events {
 public:
  /// The texts of the events that are whole now; what comes later belongs to the next.
  std::vector<std::string> add(std::string_view bytes);

 private:
  void end_line(std::vector<std::string>& whole);

  std::string line_, data_;
  bool first_ = true;      ///< of the stream's lines, before which a byte order mark may stand
  bool after_cr_ = false;  ///< a LF would belong to that end
  bool any_ = false;       ///< the event has data
};

}  // namespace mcp
