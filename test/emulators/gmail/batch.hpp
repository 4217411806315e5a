// POST /batch/gmail/v1: many calls in one request, each answered in a part of its own.
#pragma once

#include <functional>

#include "emulators/common/http_types.hpp"

namespace krux::test::gmail {

using namespace emulator;

constexpr std::size_t kMaxBatchCalls = 100;

// `run` is asked for each part in turn; what it gives stands in the answer in the same order. A batch that cannot be
// read, or holds too many, is refused whole.
HttpAnswer answer_batch(const HttpRequest& request, const std::function<HttpAnswer(const HttpRequest&)>& run);

}  // namespace krux::test::gmail
