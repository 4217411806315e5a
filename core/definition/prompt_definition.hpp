// What a person can begin a conversation with: the prompts of a definition. All of it is data.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace krux {

enum class ContentKind { kText, kImage, kAudio, kResource };  ///< what a model is handed a value as

/// The texts that a member of a collection's records has in the replica: "name" of each of "channels".
struct ReplicaValues {
  std::string collection, member;
};

struct PromptArgument {
  std::string name;  ///< letters, digits and _
  std::string description;
  bool required = false;
  std::string default_text;                  ///< what stands where none was given
  std::vector<std::string> one_of;           ///< the allowed values; empty: any
  std::optional<ReplicaValues> values_from;  ///< what a client may offer its user; others fit too
};

/// A text, or the place of an argument, whose name it is then.
struct TemplatePart {
  std::string text;
  bool is_argument = false;
};
using TextTemplate = std::vector<TemplatePart>;

struct PromptMessage {
  enum class Role { kUser, kAssistant } role = Role::kUser;
  ContentKind kind = ContentKind::kText;
  TextTemplate text;      ///< of a text, and of a resource that is one
  TextTemplate uri;       ///< of a resource
  std::string mime_type;  ///< of all but a text
  std::string data;       ///< Base64: of an image, a sound, a resource that is no text
};

struct PromptDefinition {
  std::string name;  ///< "notes.tidy_up"
  std::string title, description;
  std::vector<std::string> needs;  ///< capabilities of its definition that it speaks of
  std::vector<PromptArgument> arguments;
  std::vector<PromptMessage> messages;
};

}  // namespace krux
