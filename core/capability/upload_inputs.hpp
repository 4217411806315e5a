// Inputs whose entries name uploads: what the agent gave becomes what the write carries.
#pragma once

#include <string>

#include "core/definition/input_check.hpp"

namespace krux {

class UploadStore;

bool takes_uploads(const CapabilityDefinition& capability);

/// Of inputs that take uploads, each entry, "up_..." or {"upload_id", "filename"?}, becomes {filename, mime_type,
/// sha256, size, upload_id}. `before`: the parameters of the write that is edited, whose own entries stay as they are;
/// nullptr: a new write. Throws krux::Error InvalidInput. Blocks.
void bind_uploads(UploadStore* uploads, const CapabilityDefinition& capability, const std::string& agent_id,
                  CheckedArguments& arguments, const JsonValue* before = nullptr);

}  // namespace krux
