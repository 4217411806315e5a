// email.labels: the mailbox's labels from the replica.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>

#include "json.hpp"

namespace gmail {

std::string list_labels(const kruxos::Reader& reader, const Json& params);

}  // namespace gmail
