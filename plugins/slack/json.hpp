// JSON, by what the adapters share.
#pragma once

#include "../json/json.hpp"

namespace slack {

using namespace service_json;

}  // namespace slack
