#include "slot.hpp"

#include <fcntl.h>
#include <kruxos/kit/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "steps.hpp"
#include "workspace/failure.hpp"
#include "workspace/tree.hpp"

namespace filesystem {
namespace {

using kruxos::kit::ObjectWriter;
using workspace::Descriptor;

constexpr const char* kPlan = "plan";
constexpr const char* kUndo = "undo";
constexpr const char* kCompared = "compared";
constexpr const char* kRetired = "retired";
constexpr std::size_t kMostSlots = 1'000'000;
constexpr std::uint64_t kLeastOfEntry = 512;

const char* word_of(Plan::Kind kind) {
  if (kind == Plan::Kind::kPut) return "put";
  return kind == Plan::Kind::kTake ? "take" : "move";
}

std::string json_of(const Plan& plan) {
  return ObjectWriter()
      .text("kind", word_of(plan.kind))
      .text("path", plan.path.relative())
      .text("to", plan.to.relative())
      .text("inode", plan.inode)
      .flag("replaces", plan.replaces)
      .integer("made", static_cast<std::int64_t>(plan.made))
      .text("print", plan.print)
      .text("result", plan.result_json)
      .integer("at_ms", plan.at_ms)
      .done();
}

bool read_plan(const std::string& text, Plan& plan) {
  const auto json = kruxos::kit::parse(text);
  if (json.HasParseError() || !json.IsObject()) return false;
  using kruxos::kit::text_of;
  const auto kind = text_of(json, "kind");
  plan.kind = kind == "put" ? Plan::Kind::kPut : kind == "take" ? Plan::Kind::kTake : Plan::Kind::kMove;
  plan.path = workspace::parse_path(text_of(json, "path"));
  plan.to = workspace::parse_path(text_of(json, "to"));
  plan.inode = text_of(json, "inode");
  plan.replaces = kruxos::kit::flag_of(json, "replaces");
  plan.made = static_cast<std::size_t>(std::max<std::int64_t>(kruxos::kit::integer_of(json, "made"), 0));
  plan.print = text_of(json, "print");
  plan.result_json = text_of(json, "result");
  plan.at_ms = kruxos::kit::integer_of(json, "at_ms");
  return true;
}

Descriptor open_slot(const workspace::Home& home, const std::string& write_id) {
  if (write_id.empty() || write_id.find('/') != std::string::npos || write_id.front() == '.')
    throw workspace::invalid("This is no id of a write.");
  return Descriptor(openat(home.undo.get(), write_id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// In the workspace now; empty where there is nothing, or no way to it.
std::string inode_in(const workspace::Home& home, const workspace::Path& path) {
  const auto parent = workspace::open_beneath(home.files.get(), path.parent(), O_RDONLY | O_DIRECTORY);
  return parent && !path.is_root() ? inode_at(parent.get(), path.name()) : std::string();
}

}  // namespace

std::string inode_of(const struct stat& found) {
  return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

std::string inode_at(int directory, const std::string& name) {
  struct stat found {};
  return fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 ? inode_of(found) : std::string();
}

Slot Slot::find(const workspace::Home& home, const std::string& write_id) {
  Slot slot;
  slot.directory_ = open_slot(home, write_id);
  slot.write_id_ = write_id;
  if (slot.directory_) slot.has_plan_ = read_plan(workspace::small_file(slot.get(), kPlan), slot.plan_);
  return slot;
}

Slot Slot::make(const workspace::Home& home, const std::string& write_id) {
  workspace::remove_tree(home.undo.get(), write_id);
  if (mkdirat(home.undo.get(), write_id.c_str(), 0700) != 0)
    throw workspace::failure_of(errno, workspace::kRoot, "written");
  workspace::sync_directory(home.undo.get());
  return find(home, write_id);
}

void Slot::keep(Plan plan) {
  plan_ = std::move(plan);
  workspace::put_durably(get(), kPlan, json_of(plan_));
  has_plan_ = true;
  step("planned");
}

void Slot::begin_undo() {
  if (workspace::small_file(get(), kUndo).empty())
    workspace::put_durably(get(), kUndo, ObjectWriter().text("kept", inode_at(get(), kKept)).done());
  step("undo planned");
}

void Slot::note_compared() const {
  try {
    if (workspace::small_file(get(), kCompared).empty()) workspace::put_durably(get(), kCompared, "yes");
  } catch (const kruxos::ProxyError&) {  // the undo is done all the same; whoever asks compares once more
  }
}

bool Slot::is_to_be_compared(const workspace::Home& home) const {
  return plan_.kind == Plan::Kind::kPut && standing(home) == Standing::kUndone &&
         !inode_at(get(), taken_name()).empty() && workspace::small_file(get(), kCompared).empty();
}

std::string Slot::inode_before_undo() const {
  return kruxos::kit::text_of(kruxos::kit::parse(workspace::small_file(get(), kUndo)), "kept");
}

void Slot::retire(const workspace::Home& home) {
  constexpr std::array words{"none", "in effect", "undone", "unclear"};
  if (!is_retired()) workspace::put_durably(get(), kRetired, words[static_cast<std::size_t>(standing(home))]);
  for (const char* what : {kKept, kUndone}) workspace::remove_tree(get(), what);
}

bool Slot::is_retired() const {
  return !workspace::small_file(get(), kRetired).empty();
}

Standing Slot::standing(const workspace::Home& home) const {
  if (!has_plan_) return Standing::kNone;
  if (const auto before = workspace::small_file(get(), kRetired); !before.empty())
    return before == "none"        ? Standing::kNone
           : before == "in effect" ? Standing::kInEffect
           : before == "undone"    ? Standing::kUndone
                                   : Standing::kUnclear;
  const bool undoing = !workspace::small_file(get(), kUndo).empty();
  const auto not_there = undoing ? Standing::kUndone : Standing::kNone;
  if (plan_.kind == Plan::Kind::kMove) {
    if (inode_in(home, plan_.path) == plan_.inode) return not_there;
    return inode_in(home, plan_.to) == plan_.inode ? Standing::kInEffect : Standing::kUnclear;
  }
  const auto kept = inode_at(get(), kKept);
  if (plan_.kind == Plan::Kind::kTake) return kept.empty() ? not_there : Standing::kInEffect;
  if (!inode_at(get(), kUndone).empty()) return Standing::kUndone;
  if (!plan_.replaces) return kept.empty() ? Standing::kInEffect : Standing::kNone;
  if (undoing) return kept == inode_before_undo() ? Standing::kInEffect : Standing::kUndone;
  return kept == plan_.inode ? Standing::kNone : Standing::kInEffect;
}

std::uint64_t kept_bytes(const workspace::Home& home, const std::string& write_id) {
  const auto size = workspace::size_of(home.undo.get(), write_id, kMostSlots, [] {});
  return size.bytes + size.entries * kLeastOfEntry;
}

std::uint64_t prune(const workspace::Home& home, std::int64_t now_ms, std::int64_t keep_ms, std::uint64_t most_bytes) {
  struct Kept {
    std::int64_t at_ms = 0;
    std::string write_id;
    std::uint64_t bytes = 0;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  for (const auto& id : workspace::names_in(home.undo.get(), kMostSlots, [] {}).names) {
    const auto slot = Slot::find(home, id);
    const auto at = slot.has_plan() ? slot.plan().at_ms : now_ms;
    all.push_back({at, id, kept_bytes(home, id)});
    bytes += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.at_ms < b.at_ms; });
  for (const auto& kept : all) {
    const bool is_old = kept.at_ms + keep_ms <= now_ms;
    if (!is_old && bytes <= most_bytes) break;
    auto slot = Slot::find(home, kept.write_id);
    if (is_old || !slot.has_plan()) {
      workspace::remove_tree(home.undo.get(), kept.write_id);
    } else if (!slot.is_retired() && !slot.is_to_be_compared(home)) {
      slot.retire(home);
    }
    bytes -= kept.bytes - std::min(kept.bytes, kept_bytes(home, kept.write_id));
  }
  return bytes;
}

}  // namespace filesystem
