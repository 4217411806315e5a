// JSON, by what the adapters share.
#pragma once

#include "../json/json.hpp"

namespace gmail {

using namespace service_json;

}  // namespace gmail
