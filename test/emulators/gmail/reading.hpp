// What messages.get, drafts.get and threads.get share: which view the caller asks for and may have.
#pragma once

#include "emulators/gmail/methods.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {

MaybeFailure read_view(MethodContext& context, View& view);

}  // namespace krux::test::gmail
