// Undos: the rename of the write, the other way round.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "changes.hpp"
#include "rename.hpp"
#include "steps.hpp"
#include "workspace/failure.hpp"

namespace filesystem {
namespace {

using kruxos::EffectFound;
using workspace::Descriptor;
using workspace::Home;
using workspace::Path;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY;

std::string slot_of(std::string_view point_json) {
  return std::string(kruxos::kit::text_of(kruxos::kit::parse(point_json), "slot"));
}

std::string undone(const Plan& plan) {
  return kruxos::kit::ObjectWriter().text("path", plan.path.shown()).flag("restored", true).done();
}

kruxos::ProxyError changed_since(const Path& path) {
  return workspace::conflict(path.shown() + " has been changed since. It stays as it is.");
}

Descriptor parent_of(const Home& home, const Path& path) {
  auto parent = workspace::open_beneath(home.files.get(), path.parent(), kDirectory);
  if (!parent) throw changed_since(path);
  return parent;
}

void must_be_as_left(int directory, const Path& path, const Plan& plan, bool force, const kruxos::Call& call) {
  if (!force && workspace::print_of(directory, path.name(), until_cancelled(call)) != plan.print)
    throw changed_since(path);
}

std::string changed_in_store(const Slot& slot) {
  const auto& plan = slot.plan();
  return plan.path.shown() + " has been changed since, and was taken away nevertheless: it is in the undo store, as " +
         slot.write_id() + "/" + slot.taken_name() + ".";
}

/// False where something else has come to its place meanwhile: that stays.
bool can_put_back(const Slot& slot, int directory) {
  const auto& name = slot.plan().path.name();
  if (!slot.plan().replaces) return rename_at(slot.get(), kUndone, directory, name, RENAME_NOREPLACE);
  // Looked at before as well, so that what is there goes away for a moment only where it has come in this one.
  if (inode_at(directory, name) != slot.inode_before_undo()) return false;
  step("about to go back");
  if (!rename_at(slot.get(), kKept, directory, name, RENAME_EXCHANGE)) return false;
  if (inode_at(slot.get(), kKept) == slot.inode_before_undo()) return true;
  rename_at(slot.get(), kKept, directory, name, RENAME_EXCHANGE);
  return false;
}

/// From here on the workspace is another one: only what has been put back may be told of as no effect.
void put_back(const Slot& slot, int directory) {
  if (!can_put_back(slot, directory)) throw kruxos::ProxyError(kruxos::ErrorKind::kConflict, changed_in_store(slot));
  make_durable(directory);
  make_durable(slot.get());
}

/// What has come out of the workspace may have been changed since it was compared: then it goes back, and so it does
/// where that cannot be found out.
void must_have_been_as_left(const Slot& slot, int directory, bool force, const kruxos::Call& call) {
  step("taken out");
  if (force) return;
  std::string print;
  try {
    print = workspace::print_of(slot.get(), slot.taken_name(), until_cancelled(call));
  } catch (const kruxos::ProxyError&) {
    put_back(slot, directory);
    throw;
  }
  if (print == slot.plan().print) return;
  put_back(slot, directory);
  throw changed_since(slot.plan().path);
}

void finish(int directory, const Slot& slot) {
  step("undone");
  make_durable(directory);
  make_durable(slot.get());
}

/// The directories that the write has made, as far as nothing else is in them.
void remove_made(const Home& home, const Plan& plan) {
  auto path = plan.path;
  for (auto left = plan.made; left > 0; --left) {
    path.names.pop_back();
    const auto parent = workspace::open_beneath(home.files.get(), path.parent(), kDirectory);
    if (!parent || unlinkat(parent.get(), path.name().c_str(), AT_REMOVEDIR) != 0) return;
  }
}

/// Once what the write had left is out of the workspace, or was not there any more. `parent`: none where somebody has
/// taken that away meanwhile.
void end_put(const Home& home, const Slot& slot, const Descriptor& parent, bool taken, bool force,
             const kruxos::Call& call) {
  if (taken) must_have_been_as_left(slot, parent.get(), force, call);
  step("undone");
  if (parent) make_durable(parent.get());
  slot.note_compared();
  make_durable(slot.get());
  if (!slot.plan().replaces) remove_made(home, slot.plan());
}

void undo_put(const Home& home, Slot& slot, bool force, const kruxos::Call& call) {
  const auto& plan = slot.plan();
  const auto& name = plan.path.name();
  const auto parent = parent_of(home, plan.path);
  must_be_as_left(parent.get(), plan.path, plan, force, call);
  slot.begin_undo();
  const bool taken = plan.replaces ? rename_at(slot.get(), kKept, parent.get(), name, RENAME_EXCHANGE)
                                   : rename_at(parent.get(), name, slot.get(), kUndone, RENAME_NOREPLACE);
  if (!taken) {
    const bool is_gone = errno == ENOENT;
    if (!is_gone || (plan.replaces && !rename_at(slot.get(), kKept, parent.get(), name, RENAME_NOREPLACE)))
      throw workspace::failure_of(errno, plan.path.shown(), "restored");
  }
  end_put(home, slot, parent, taken, force, call);
}

void compare_late(const Home& home, const Slot& slot, bool force, const kruxos::Call& call) {
  if (!slot.is_to_be_compared(home)) return;
  const auto parent = workspace::open_beneath(home.files.get(), slot.plan().path.parent(), kDirectory);
  end_put(home, slot, parent, true, force, call);
}

void undo_take(const Home& home, Slot& slot) {
  const auto& plan = slot.plan();
  const auto parent = parent_of(home, plan.path);
  slot.begin_undo();
  if (!rename_at(slot.get(), kKept, parent.get(), plan.path.name(), RENAME_NOREPLACE)) {
    if (errno == EEXIST)
      throw workspace::conflict("Something else is at " + plan.path.shown() + " by now: move it away first.");
    throw workspace::failure_of(errno, plan.path.shown(), "restored");
  }
  finish(parent.get(), slot);
}

void undo_move(const Home& home, Slot& slot, bool force, const kruxos::Call& call) {
  const auto& plan = slot.plan();
  const auto from = parent_of(home, plan.path), to = parent_of(home, plan.to);
  must_be_as_left(to.get(), plan.to, plan, force, call);
  slot.begin_undo();
  if (!rename_at(to.get(), plan.to.name(), from.get(), plan.path.name(), RENAME_NOREPLACE)) {
    if (errno == EEXIST)
      throw workspace::conflict("Something else is at " + plan.path.shown() + " by now: move it away first.");
    throw workspace::failure_of(errno, plan.path.shown(), "restored");
  }
  finish(from.get(), slot);
  make_durable(to.get());
}

}  // namespace

std::string Changes::rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) {
  const auto home = homes_.of(call.agent());
  const std::shared_lock using_slots(share_of(call.agent()).pruning);
  auto slot = Slot::find(home, slot_of(request.point_json));
  if (!slot || !slot.has_plan() || (slot.is_retired() && slot.standing(home) != Standing::kUndone))
    throw workspace::refused("What was there before is no longer kept, so that it cannot be restored.", "UndoGone");
  const auto standing = slot.standing(home);
  if (standing == Standing::kUndone) {
    compare_late(home, slot, request.force, call);
    return undone(slot.plan());
  }
  if (standing != Standing::kInEffect) throw changed_since(slot.plan().path);
  if (slot.plan().kind == Plan::Kind::kTake) {
    undo_take(home, slot);
  } else if (slot.plan().kind == Plan::Kind::kMove) {
    undo_move(home, slot, request.force, call);
  } else {
    undo_put(home, slot, request.force, call);
  }
  return undone(slot.plan());
}

EffectFound Changes::find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const {
  const auto home = homes_.of(call.agent());
  const std::shared_lock using_slots(share_of(call.agent()).pruning);
  const auto slot = Slot::find(home, slot_of(request.point_json));
  if (!slot || !slot.has_plan()) return EffectFound::cannot_tell("What was kept for the undo has been taken away.");
  const auto standing = slot.standing(home);
  if (standing == Standing::kUndone) {
    if (!slot.is_to_be_compared(home)) return EffectFound::found("{}");
    if (!request.force &&
        workspace::print_of(slot.get(), slot.taken_name(), until_cancelled(call)) != slot.plan().print)
      return EffectFound::cannot_tell(changed_in_store(slot));
    slot.note_compared();
    return EffectFound::found("{}");
  }
  return standing == Standing::kInEffect
             ? EffectFound::disproved()
             : EffectFound::cannot_tell("What was moved is in neither place: somebody has moved it on.");
}

}  // namespace filesystem
