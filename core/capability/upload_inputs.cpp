#include "core/capability/upload_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/upload/upload_store.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Binds one input's entries.
class Binder {
 public:
  Binder(UploadStore& uploads, const CapabilityDefinition& capability, const InputDefinition& input,
         const std::string& agent_id)
      : uploads_(uploads), capability_(capability), input_(input), agent_id_(agent_id) {}

  void bind(JsonValue& entries, const JsonValue* before, JsonDocument::AllocatorType& allocator) const {
    for (auto& entry : entries.GetArray()) {
      const bool stays = before && before->IsArray() && entry.IsObject() &&
                         std::find(before->Begin(), before->End(), entry) != before->End();
      if (!stays) entry = bound(entry, allocator);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw invalid_input(fmt::format("{}: \"{}\" {}.", capability_.name, input_.name, why));
  }

  JsonValue bound(const JsonValue& entry, JsonDocument::AllocatorType& allocator) const {
    auto upload = uploads_.get(agent_id_, id_of(entry));
    if (const auto* filename = entry.IsObject() ? find_member(entry, "filename") : nullptr) {
      if (!filename->IsString()) refuse("has an entry whose filename is no text");
      upload.filename = view(*filename);
      if (const auto why = why_not_filename(upload.filename); !why.empty())
        refuse(fmt::format("has an entry with a filename that cannot be one: {}", why));
    }
    JsonValue out(rapidjson::kObjectType);
    const auto text = [&](const char* name, const std::string& value) {
      out.AddMember(rapidjson::StringRef(name), JsonValue(value, allocator), allocator);
    };
    text("upload_id", upload.upload_id);
    text("filename", upload.filename);
    text("mime_type", upload.mime_type);
    out.AddMember("size", upload.size, allocator);
    text("sha256", upload.sha256);
    return out;
  }

  std::string id_of(const JsonValue& entry) const {
    if (entry.IsString()) return std::string(view(entry));
    const auto* id = entry.IsObject() ? find_member(entry, "upload_id") : nullptr;
    if (!id || !id->IsString())
      refuse(
          R"(names uploads: "up_..." or {"upload_id": "up_...", "filename": "..."}. Files are sent to POST /uploads)");
    for (const auto& member : entry.GetObject()) {
      const auto name = view(member.name);
      if (name != "upload_id" && name != "filename")
        refuse(fmt::format("has an entry with \"{}\"; it takes upload_id and filename", printable(name.substr(0, 60))));
    }
    return std::string(view(*id));
  }

  UploadStore& uploads_;
  const CapabilityDefinition& capability_;
  const InputDefinition& input_;
  const std::string& agent_id_;
};

}  // namespace

bool takes_uploads(const CapabilityDefinition& capability) {
  return std::any_of(capability.inputs.begin(), capability.inputs.end(),
                     [](const InputDefinition& input) { return input.uploads; });
}

void bind_uploads(UploadStore* uploads, const CapabilityDefinition& capability, const std::string& agent_id,
                  CheckedArguments& arguments, const JsonValue* before) {
  if (!takes_uploads(capability)) return;
  for (const auto& input : capability.inputs) {
    const auto at = arguments.params.FindMember(input.name.c_str());
    if (!input.uploads || at == arguments.params.MemberEnd() || at->value.Empty()) continue;
    if (!uploads) throw invalid_input(fmt::format("{}: this host takes no uploads.", capability.name));
    Binder(*uploads, capability, input, agent_id)
        .bind(at->value, before ? find_member(*before, input.name) : nullptr, arguments.params.GetAllocator());
  }
  arguments.params_json = canonical_json(arguments.params);
}

}  // namespace krux
