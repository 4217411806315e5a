#include "definition_text.hpp"

#include <kruxos/kit/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "inputs.hpp"
#include "names.hpp"
#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t kMostCapabilities = 256, kLongestToolName = 37, kSeparator = 2, kShortestName = 12;
constexpr std::size_t kLongestPurpose = 240, kLongestUse = 1'500, kLongestSchemaShown = 600, kMostShown = 3;

// What the host reads of one definition and of what was agreed to, with room for what an operator adds.
constexpr std::size_t kLongestCapability = 20'000, kMostBytes = 900'000, kMostNodes = 80'000, kMostAgreed = 3u << 20;
constexpr std::array<std::string_view, 5> kTakenByHost{"proxy", "state", "alerts", "agent", "null"};

/// At least as many as the values in a text of YAML.
std::size_t nodes_in(std::string_view yaml) {
  std::size_t nodes = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < yaml.size(); ++at) {
    if (yaml[at] == '"') {
      in_text = !in_text;
    } else if (in_text && yaml[at] == '\\') {
      ++at;
    } else if (!in_text && std::string_view(",:\n[{").find(yaml[at]) != std::string_view::npos) {
      ++nodes;
    }
  }
  return nodes;
}

/// What is left of what the host reads.
class Room {
 public:
  bool has(const std::string& text, const WrappedTool& tool) const {
    return bytes_ + text.size() <= kMostBytes && nodes_ + nodes_in(text) <= kMostNodes &&
           agreed_ + json_of(tool).size() <= kMostAgreed;
  }
  void take(const std::string& text, const WrappedTool& tool) {
    bytes_ += text.size();
    nodes_ += nodes_in(text);
    agreed_ += json_of(tool).size();
  }

 private:
  std::size_t bytes_ = 0, nodes_ = 0, agreed_ = 0;
};

/// The host asks below the address, and knows a request that only reads by its path.
void check_path(const std::string& path) {
  const auto plain = path.substr(0, path.find('?'));
  const auto padded = '/' + plain + '/';
  const bool dots = padded.find("/./") != std::string::npos || padded.find("/../") != std::string::npos;
  const bool scheme = plain.substr(0, plain.find('/')).find(':') != std::string::npos;
  if (plain.starts_with('/') || plain.find_first_of("%;") != std::string::npos || dots || scheme)
    throw std::runtime_error(
        "the address has \"//\" or a ':' behind its host, or '%', ';', \".\" or \"..\" in its path, which the host "
        "does "
        "not ask. Give the server another path");
}

/// Up to the end of the first sentence.
std::string first_sentence(const std::string& text) {
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if ((text[at] == '.' || text[at] == '!' || text[at] == '?') && text[at + 1] == ' ') return text.substr(0, at + 1);
  }
  return text;
}

/// "linear.create_issue" for each tool: as before, or by its own name.
class Names {
 public:
  Names(const std::string& prefix, const Wrapped* before)
      : prefix_(prefix), longest_(std::min<std::size_t>(32, kLongestToolName - kSeparator - prefix.size())) {
    if (!before) return;
    for (const auto& tool : before->tools) {
      known_.emplace(tool.tool, tool.capability);
      taken_.insert(tool.capability);
    }
  }

  std::string of(const std::string& tool) {
    if (const auto known = known_.find(tool); known != known_.end()) return known->second;
    auto name = prefix_ + '.' + plain_name(tool, longest_);
    for (std::size_t tries = 0; !taken_.insert(name).second; ++tries)
      name = prefix_ + '.' + told_apart(tool, longest_, tries);
    return name;
  }

 private:
  const std::string prefix_;
  const std::size_t longest_;
  std::map<std::string, std::string> known_;
  std::set<std::string> taken_;
};

std::string summary_of(const std::string& capability, const std::vector<Input>& inputs) {
  std::string shown;
  std::size_t count = 0;
  for (const auto& input : inputs) {
    const bool simple = input.type != "Array" && input.type != "Object";
    if (!input.required || !simple || count == kMostShown) continue;
    shown += (count++ == 0 ? "" : ", ") + input.name + " {" + input.name + "}";
  }
  return capability + (shown.empty() ? "" : ": " + shown);
}

std::string inputs_text(const std::vector<Input>& inputs) {
  std::string out;
  for (const auto& input : inputs) {
    // To YAML this one is no text.
    const auto name = input.name == "null" ? kruxos::kit::quoted(input.name) : input.name;
    out += "      - {name: " + name + ", type: " + input.type + (input.required ? ", required: true" : "") +
           (input.more.empty() ? "" : ", " + input.more) + ", description: " + kruxos::kit::quoted(input.description) +
           "}\n";
  }
  return out.empty() ? out : "    inputs:\n" + out;
}

std::vector<Input> whole_input(const Tool& tool) {
  Input input{kWhole,   "",
              "Object", "What the tool takes, by its schema: " + one_line(tool.input_schema_json, kLongestSchemaShown),
              true,     ""};
  return {input};
}

std::string capability_text(const Tool& tool, const WrappedTool& wrapped, const std::vector<Input>& inputs,
                            const std::string& server) {
  auto said = one_line(tool.description, kLongestUse);
  if (said.empty()) said = one_line(tool.title, kLongestUse);
  if (said.empty()) said = one_line(tool.name, kLongestUse);
  if (said.empty()) said = "The server says nothing of it.";
  auto purpose = first_sentence(said);
  (void)kruxos::kit::cut_text(purpose, kLongestPurpose);
  auto comment = one_line(tool.name, 120);
  std::replace(comment.begin(), comment.end(), '"', '\'');  // nodes_in() reads texts between these
  std::string out = "\n  # " + comment + "\n  - name: " + wrapped.capability + "\n";
  out += std::string("    kind: ") +
         (wrapped.reads ? "read\n    tier: autonomous\n    fetches: true\n" : "write\n    tier: approval_required\n");
  out += "    purpose: " + kruxos::kit::quoted(purpose) + "\n";
  out +=
      "    when_to_use: " +
      kruxos::kit::quoted(
          wrapped.reads ? (said == purpose ? "When you need what " + server + " has." : said)
                        : "A person decides first unless the operator's policy says otherwise. It cannot be undone." +
                              (said == purpose ? std::string() : " " + said)) +
      "\n";
  out += "    tags: [mcp, " + std::string(wrapped.reads ? "read" : "write") + "]\n";
  if (!wrapped.reads) {
    if (!tool.destroys) out += "    destructive: false\n";
    // Only the server's word: doing it twice would rest on it.
    if (tool.can_repeat)
      out +=
          "    # The server says that doing it twice is the same as once. Where you know it: harmless_to_repeat: "
          "true\n";
    out += "    summary: " + kruxos::kit::quoted(summary_of(wrapped.capability, inputs)) + "\n";
  }
  out += inputs_text(inputs);
  out +=
      "    outputs:\n"
      "      - {name: text, type: String, description: \"What the server says, where it gives no structured "
      "answer.\"}\n"
      "      - {name: structured, type: Object, description: \"The server's structured answer.\"}\n"
      "      - {name: content, type: Array, description: \"What else it gives: images, sounds, resources, links.\", "
      "items: {type: Object}}\n";
  return out;
}

std::string shown_name(const Plan& plan) {
  auto name = one_line(plan.display_name, 100);
  return name.empty() ? plan.service : name;
}

std::string head_text(const Plan& plan, const std::string& version) {
  const auto name = shown_name(plan);
  std::string out =
      "# The tools of an MCP server, as capabilities. Made by `kruxos adapter wrap`; tighten it as you like, "
      "docs/wrapping.md says how.\n";
  out += "schema: 1\nservice: " + plan.service + "\nprefix: " + plan.service +
         "\ndisplay_name: " + kruxos::kit::quoted(name) +
         "\ndescription: " + kruxos::kit::quoted("The tools of " + name + ", an MCP server.") +
         "\nversion: " + version + "\nadapter: {min_version: 1.0.0, below_version: 2.0.0}\n";
  if (plan.url.empty()) {
    out += "api_base_url: https://" + plan.service + ".invalid/\nauth: none\n";
  } else {
    const auto at = address_of(plan.url);
    const bool plain = at.base.starts_with("http://");
    // Plain http to this machine alone; the configuration's services.SERVICE.api_base_url names such an address.
    out += "api_base_url: " + kruxos::kit::quoted(plain ? "https://" + plan.service + ".invalid/" : at.base) + "\n";
    const auto path = at.path.substr(0, at.path.find('?'));
    out += "http: {safe_posts: [" + kruxos::kit::quoted(path.empty() ? "*" : path) + "]}\n";
    if (plan.token) {
      out += "connect:\n  token_pattern: '[!-~]{8,4000}'\n  help: " +
             kruxos::kit::quoted("Paste a token that " + name +
                                 " accepts as \"Authorization: Bearer TOKEN\". The host keeps it in its vault.") +
             "\n";
    } else {
      out += "auth: none\n";
    }
  }
  out +=
      "sync_interval: 5 min  # how often the tools are compared with what you have agreed to\ncall_timeout: 60 "
      "s\n\ncapabilities:";
  return out;
}

std::string next_version(const Wrapped* before) {
  if (!before) return "1.0.0";
  const auto& version = before->version;
  const auto first = version.find('.'), second = version.find('.', first + 1);
  if (first == std::string::npos || second == std::string::npos) return "1.0.0";
  try {
    return version.substr(0, first + 1) +
           std::to_string(std::stoul(version.substr(first + 1, second - first - 1)) + 1) + ".0";
  } catch (const std::exception&) {
    return "1.0.0";
  }
}

}  // namespace

Wrapping wrap(const Plan& plan, const std::vector<Tool>& tools, const Wrapped* before) {
  if (tools.empty()) throw std::runtime_error("the server has no tools");
  if (plan.service.size() > kLongestToolName - kSeparator - kShortestName)
    throw std::runtime_error("the service's name has more than 23 letters, which leaves none for its tools");
  if (std::find(kTakenByHost.begin(), kTakenByHost.end(), plan.service) != kTakenByHost.end())
    throw std::runtime_error("the name " + plan.service + " is the host's own; choose another one");
  if (!plan.url.empty()) check_path(address_of(plan.url).path);
  Wrapping out;
  out.wrapped = {plan.service, next_version(before), plan.url, plan.command, {}};
  out.definition = head_text(plan, out.wrapped.version);
  Names names(plan.service, before);
  const auto server = shown_name(plan);
  Room room;
  room.take(out.definition, {});
  for (const auto& tool : tools) {
    if (out.wrapped.tools.size() == kMostCapabilities) {
      out.left_out.push_back(tool.name);
      continue;
    }
    WrappedTool wrapped{names.of(tool.name), tool.name, tool.pin, tool.reads_only, false, {}};
    auto inputs = inputs_of(tool, before ? before->find(wrapped.capability) : nullptr);
    wrapped.whole = !inputs;
    if (!inputs) inputs = whole_input(tool);
    if (!wrapped.whole) {
      for (const auto& input : *inputs) wrapped.arguments.emplace(input.name, input.argument);
    }
    auto text = capability_text(tool, wrapped, *inputs, server);
    if (text.size() > kLongestCapability || !room.has(text, wrapped)) {
      wrapped.whole = true;
      wrapped.arguments.clear();
      text = capability_text(tool, wrapped, whole_input(tool), server);
    }
    if (!room.has(text, wrapped)) {
      out.left_out.push_back(tool.name);
      continue;
    }
    room.take(text, wrapped);
    out.definition += text;
    out.wrapped.tools.push_back(std::move(wrapped));
  }
  out.definition +=
      "\nrecovery:\n"
      "  ToolChanged:\n"
      "    - {action: ask_the_operator, description: \"The server has changed this tool. The operator looks at it and "
      "wraps the server again.\"}\n"
      "  ToolFailed:\n"
      "    - {action: change_the_input, description: \"The server refused it; its words say why.\"}\n";
  return out;
}

}  // namespace mcp
