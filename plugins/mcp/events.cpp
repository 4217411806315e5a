#include "events.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

std::vector<std::string> Events::add(std::string_view bytes) {
  std::vector<std::string> whole;
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') bytes.remove_prefix(1);
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    line_.append(bytes.substr(0, end));
    if (end == bytes.size()) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(whole);
  }
  return whole;
}

void Events::end_line(std::vector<std::string>& whole) {
  std::string_view line(line_);
  if (std::exchange(first_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (std::exchange(any_, false)) whole.push_back(std::exchange(data_, {}));
  } else if (line == "data" || line.starts_with("data:")) {
    line.remove_prefix(std::min<std::size_t>(line.size(), line.starts_with("data: ") ? 6 : 5));
    if (std::exchange(any_, true)) data_ += '\n';
    data_ += line;
  }
  line_.clear();
}

}  // namespace mcp
