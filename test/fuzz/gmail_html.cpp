// HTML of strangers: two bounded texts come out of it, whatever it is.
#include "fuzz.hpp"
#include "mail/html_text.hpp"
#include "mail/utf8.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 4096;
  const std::string html(data, data + size);
  for (const std::string before : {"", "<div hidden><svg><table>"}) {
    const auto text = gmail::html_to_text(before + html, kMost);
    krux::fuzz::require(gmail::is_utf8(text.seen) && gmail::is_utf8(text.hidden), "texts are UTF-8");
    krux::fuzz::require(text.seen.size() <= kMost && text.hidden.size() <= gmail::kMostHiddenBytes,
                        "texts are bounded");
  }
  return 0;
}
