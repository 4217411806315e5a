// How much of a mail may be given to GMime, which keeps some hundred bytes for each field and more than a thousand for
// each part: 25 MB of the shortest ones would take gigabytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace gmail {

/// The length of the beginning of `raw` that has a bounded number of parts and fields. All of it for any mail that a
/// program meant to be read: what may be parts or fields is counted generously.
std::size_t readable_bytes(std::string_view raw);

}  // namespace gmail
