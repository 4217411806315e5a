// How an account is named in metrics.
#pragma once

#include <string>

namespace krux {

/// The id itself where it is letters, digits, '-', '_' and at most 64 of them; else, since it may be somebody's
/// address, "id-" and the first 12 hexadecimal digits of its SHA-256. Empty stays empty.
std::string account_label(const std::string& account_id);

}  // namespace krux
