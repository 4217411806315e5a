#include "changes.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rename.hpp"
#include "steps.hpp"
#include "workspace/failure.hpp"

namespace filesystem {
namespace {

using kruxos::EffectFound;
using kruxos::kit::Json;
using kruxos::kit::ObjectWriter;
using kruxos::kit::text_of;
using workspace::Descriptor;
using workspace::Home;
using workspace::Path;

constexpr int kMostTries = 8;                       ///< of one that somebody else keeps changing
constexpr std::int64_t kKeepMs = 96 * 3'600'000LL;  ///< longer than the definition's rollback_retention
constexpr std::int64_t kPruneEveryMs = 60'000;
constexpr std::array kOperations{"filesystem.write", "filesystem.mkdir", "filesystem.copy", "filesystem.move",
                                 "filesystem.delete"};

Path changed_path(const Json& params, std::string_view name) {
  auto path = workspace::parse_path(text_of(params, name));
  if (path.is_root()) throw workspace::invalid("The workspace itself stays as it is: name something in it.");
  return path;
}

std::string decoded(const Json& params) {
  const auto content = text_of(params, "content");
  if (text_of(params, "encoding") != "base64") return std::string(content);
  std::string bytes(content.size(), '\0');
  std::size_t length = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), content.data(), content.size(),
                        "\r\n", &length, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
    throw workspace::invalid("The content is not Base64 (RFC 4648, with its padding).");
  bytes.resize(length);
  return bytes;
}

/// The deepest directory of the path that there is, and how many of its directories there are.
Descriptor deepest(const Home& home, const Path& path, std::size_t& there) {
  for (there = path.names.size() - 1;; --there) {
    const Path above{{path.names.begin(), path.names.begin() + static_cast<std::ptrdiff_t>(there)}};
    auto opened = workspace::open_beneath(home.files.get(), above.relative(), O_RDONLY | O_DIRECTORY);
    if (opened) return opened;
    if (errno != ENOENT || there == 0) throw workspace::failure_of(errno, path.shown(), "opened");
  }
}

/// Directories below `slot`, the first under kKept; the last one of them, opened.
Descriptor stage_directories(int slot, const std::vector<std::string>& names) {
  Descriptor at(openat(slot, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = i == 0 ? std::string(kKept) : names[i];
    if (mkdirat(at.get(), name.c_str(), 0755) != 0) throw workspace::failure_of(errno, workspace::kRoot, "made");
    at = Descriptor(openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at) throw workspace::failure_of(errno, workspace::kRoot, "made");
  }
  return at;
}

void must_be_replaceable(const struct stat& found, const Path& path, bool overwrite) {
  if (S_ISREG(found.st_mode) && overwrite) return;
  if (S_ISREG(found.st_mode)) throw workspace::refused(path.shown() + " is there already.", "AlreadyExists");
  throw workspace::refused(path.shown() + " is there already, and is a " + workspace::type_of(found.st_mode) + ".",
                           "AlreadyExists");
}

EffectFound look(const Home& home, const kruxos::BufferedWrite& write, std::int64_t now_ms) {
  const auto slot = Slot::find(home, std::string(write.write_id));
  if (!slot || !slot.has_plan()) {
    if (write.created_at_ms > 0 && now_ms - write.created_at_ms > kKeepMs)
      return EffectFound::cannot_tell("What was kept of writes of that time has been taken away.");
    return write.attempt == 0 ? EffectFound::absent() : EffectFound::disproved();
  }
  switch (slot.standing(home)) {
    case Standing::kInEffect:
    case Standing::kUndone:
      return EffectFound::found(slot.plan().result_json);
    case Standing::kNone:
      return EffectFound::disproved();
    case Standing::kUnclear:
      break;
  }
  return EffectFound::cannot_tell("What was to be moved is in neither place: somebody has moved it on.");
}

}  // namespace

workspace::MayGoOn until_cancelled(const kruxos::Call& call) {
  return [&call] {
    if (call.cancelled())
      throw kruxos::ProxyError(kruxos::ErrorKind::kCancelled, "The time for this call is over.").no_effect();
  };
}

bool Changes::is_change(std::string_view operation) {
  return std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end();
}

std::string Changes::execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto home = homes_.of(call.agent());
  auto& share = share_of(call.agent());
  prune_now_and_then(home, call, share);
  const std::shared_lock using_slots(share.pruning);
  // An earlier attempt of which the host knows no end.
  if (const auto before = Slot::find(home, std::string(write.write_id)); before && before.has_plan()) {
    if (before.standing(home) == Standing::kInEffect) return before.plan().result_json;
    if (before.standing(home) == Standing::kUnclear)
      throw kruxos::ProxyError(kruxos::ErrorKind::kStorage, "It is not clear whether this was done before.");
  }
  auto result = change(call, home, write);
  const auto kept = kept_bytes(home, std::string(write.write_id));
  const std::lock_guard lock(share.mutex);
  share.kept += kept;
  return result;
}

std::string Changes::change(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write) const {
  const auto params = kruxos::kit::parse(write.params_json);
  if (write.operation == "filesystem.write") return write_file(call, home, write, params);
  if (write.operation == "filesystem.mkdir") return make_directory(call, home, write, params);
  if (write.operation == "filesystem.copy") return copy(call, home, write, params);
  if (write.operation == "filesystem.move") return move(call, home, write, params);
  if (write.operation == "filesystem.delete") return take(call, home, write, params);
  throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported, "There is no such operation.").no_effect();
}

EffectFound Changes::find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const {
  const std::shared_lock using_slots(share_of(call.agent()).pruning);
  return look(homes_.of(call.agent()), write, call.now_ms());
}

Share& Changes::share_of(std::string_view agent) const {
  const std::lock_guard lock(shares_mutex_);
  auto& share = shares_[std::string(agent)];
  if (!share) share = std::make_unique<Share>();
  return *share;
}

void Changes::prune_now_and_then(const Home& home, const kruxos::Call& call, Share& share) const {
  {
    const std::lock_guard lock(share.mutex);
    const bool is_time = share.pruned_ms == 0 || call.now_ms() - share.pruned_ms >= kPruneEveryMs;
    if (!is_time && share.kept <= options_.undo_bytes + options_.undo_bytes / 4) return;
    share.pruned_ms = call.now_ms();
  }
  const std::unique_lock alone(share.pruning);
  const auto kept = prune(home, call.now_ms(), kKeepMs, options_.undo_bytes);
  const std::lock_guard lock(share.mutex);
  share.kept = kept;
}

std::string Changes::put(const kruxos::Call& call, const Home& home, std::string_view write_id,
                         const Putting& putting) const {
  std::string result;
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (try_to_put(call, home, write_id, putting, result)) return result;
  }
  throw kruxos::ProxyError(kruxos::ErrorKind::kUnavailable,
                           putting.path.shown() + " is being changed all the time by somebody else.")
      .no_effect();
}

/// False where somebody has made or taken away something on the way meanwhile.
bool Changes::try_to_put(const kruxos::Call& call, const Home& home, std::string_view write_id, const Putting& putting,
                         std::string& result) const {
  const auto& path = putting.path;
  std::size_t there = 0;
  const auto parent = deepest(home, path, there);
  Plan plan;
  plan.path = path;
  plan.made = path.names.size() - 1 - there;
  struct stat found {};
  if (plan.made == 0 && workspace::look_at(parent.get(), path.name(), found, path)) {
    must_be_replaceable(found, path, putting.overwrite);
    plan.replaces = true;
  }
  auto slot = Slot::make(home, std::string(write_id));
  const std::vector<std::string> missing(path.names.begin() + static_cast<std::ptrdiff_t>(there), path.names.end() - 1);
  const auto stage = stage_directories(slot.get(), missing);
  const auto leaf = missing.empty() ? std::string(kKept) : path.name();
  putting.stage(stage.get(), leaf);
  if (plan.replaces && fchmodat(stage.get(), leaf.c_str(), found.st_mode & 0777, 0) != 0)
    throw workspace::failure_of(errno, path.shown(), "written");
  workspace::sync_directory(stage.get());
  step("staged");
  plan.print = workspace::print_of(stage.get(), leaf, until_cancelled(call));
  plan.inode = inode_at(slot.get(), kKept);
  plan.result_json = result = putting.result(plan.replaces);
  plan.at_ms = call.now_ms();
  const bool replaces = plan.replaces;
  slot.keep(std::move(plan));
  if (!rename_at(slot.get(), kKept, parent.get(), path.names[there], replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE)) {
    if (errno == ENOENT || errno == EEXIST) return false;
    if (errno == EINVAL)
      throw workspace::refused("The file system of the workspaces cannot exchange files; tell the operator.",
                               "AccessDenied");
    throw workspace::failure_of(errno, path.shown(), "written");
  }
  step("in place");
  make_durable(parent.get());
  make_durable(slot.get());
  return true;
}

std::string Changes::write_file(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write,
                                const Json& params) const {
  const auto bytes = decoded(params);
  const auto path = changed_path(params, "path");
  const Room room(share_of(call.agent()), home, options_, {bytes.size(), path.names.size()}, until_cancelled(call));
  const auto* overwrite = kruxos::kit::member(params, "overwrite");
  return put(call, home, write.write_id,
             {path, !overwrite || !overwrite->IsBool() || overwrite->GetBool(),
              [&](int directory, const std::string& name) { workspace::put_file(directory, name, bytes, 0644); },
              [&](bool replaced) {
                return ObjectWriter()
                    .text("path", path.shown())
                    .integer("size", static_cast<std::int64_t>(bytes.size()))
                    .text("sha256", workspace::sha256_of(bytes))
                    .flag("created", !replaced)
                    .done();
              }});
}

std::string Changes::make_directory(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write,
                                    const Json& params) const {
  const auto path = changed_path(params, "path");
  const Room room(share_of(call.agent()), home, options_, {0, path.names.size()}, until_cancelled(call));
  return put(call, home, write.write_id,
             {path, false,
              [&](int directory, const std::string& name) {
                if (mkdirat(directory, name.c_str(), 0755) != 0)
                  throw workspace::failure_of(errno, path.shown(), "made");
              },
              [&](bool) { return ObjectWriter().text("path", path.shown()).done(); }});
}

std::string Changes::copy(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write,
                          const Json& params) const {
  const auto from = changed_path(params, "from"), to = changed_path(params, "to");
  const auto source = workspace::open_directory(home.files.get(), from.parent(), from);
  struct stat found {};
  if (!workspace::look_at(source.get(), from.name(), found, from)) throw workspace::not_found(from.shown());
  auto size = workspace::size_of(source.get(), from.name(), options_.workspace_entries + 1, until_cancelled(call));
  size.entries += to.names.size();
  const Room room(share_of(call.agent()), home, options_, size, until_cancelled(call));
  return put(call, home, write.write_id,
             {to, false,
              [&](int directory, const std::string& name) {
                workspace::copy_tree(source.get(), from.name(), directory, name, from, size, until_cancelled(call));
              },
              [&](bool) { return ObjectWriter().text("from", from.shown()).text("to", to.shown()).done(); }});
}

std::string Changes::move(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write,
                          const Json& params) const {
  const auto from = changed_path(params, "from"), to = changed_path(params, "to");
  const auto source = workspace::open_directory(home.files.get(), from.parent(), from);
  const auto target = workspace::open_directory(home.files.get(), to.parent(), to.above());
  struct stat found {};
  if (!workspace::look_at(source.get(), from.name(), found, from)) throw workspace::not_found(from.shown());
  auto slot = Slot::make(home, std::string(write.write_id));
  Plan plan{Plan::Kind::kMove, from, to, inode_of(found)};
  plan.print = workspace::print_of(source.get(), from.name(), until_cancelled(call));
  plan.result_json = ObjectWriter().text("from", from.shown()).text("to", to.shown()).done();
  plan.at_ms = call.now_ms();
  slot.keep(plan);
  if (!rename_at(source.get(), from.name(), target.get(), to.name(), RENAME_NOREPLACE)) {
    if (errno == EEXIST) throw workspace::refused(to.shown() + " is there already.", "AlreadyExists");
    if (errno == EINVAL) throw workspace::invalid("A directory cannot be moved into itself.");
    throw workspace::failure_of(errno, from.shown(), "moved");
  }
  step("in place");
  make_durable(target.get());
  make_durable(source.get());
  return plan.result_json;
}

std::string Changes::take(const kruxos::Call& call, const Home& home, const kruxos::BufferedWrite& write,
                          const Json& params) const {
  const auto path = changed_path(params, "path");
  const auto parent = workspace::open_directory(home.files.get(), path.parent(), path);
  struct stat found {};
  if (!workspace::look_at(parent.get(), path.name(), found, path)) throw workspace::not_found(path.shown());
  if (S_ISDIR(found.st_mode) && !kruxos::kit::flag_of(params, "recursive")) {
    const auto inside = workspace::open_directory(home.files.get(), path.relative(), path);
    const auto names = workspace::names_in(inside.get(), 1, until_cancelled(call));
    if (!names.names.empty() || names.unreadable > 0)
      throw workspace::refused(path.shown() + " is not empty: say recursive, if all of it is to go.", "NotEmpty");
  }
  auto slot = Slot::make(home, std::string(write.write_id));
  Plan plan{Plan::Kind::kTake, path, {}, inode_of(found)};
  plan.result_json = ObjectWriter().text("path", path.shown()).text("type", workspace::type_of(found.st_mode)).done();
  plan.at_ms = call.now_ms();
  slot.keep(plan);
  if (!rename_at(parent.get(), path.name(), slot.get(), kKept, RENAME_NOREPLACE))
    throw workspace::failure_of(errno, path.shown(), "deleted");
  step("in place");
  make_durable(parent.get());
  make_durable(slot.get());
  return plan.result_json;
}

}  // namespace filesystem
