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

/// Where an undo has put what it has taken out of the workspace.
const char* taken_name(const Plan& plan) {
  return plan.replaces ? kKept : kUndone;
}

/// Whether an undo ended between its rename and the comparison with what came out of the workspace.
bool is_to_be_compared(const Slot& slot) {
  return slot.plan().kind == Plan::Kind::kPut && !slot.is_compared() &&
         !inode_at(slot.get(), taken_name(slot.plan())).empty();
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
         slot.write_id() + "/" + taken_name(plan) + ".";
}

/// From here on the workspace is another one: only what has been put back may be told of as no effect.
void put_back(const Slot& slot, int directory) {
  const auto& plan = slot.plan();
  if (rename_at(slot.get(), taken_name(plan), directory, plan.path.name(),
                plan.replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE))
    return;
  throw kruxos::ProxyError(kruxos::ErrorKind::kConflict, changed_in_store(slot));
}

/// What has come out of the workspace may have been changed since it was compared: then it goes back, and so it does
/// where that cannot be found out.
void must_have_been_as_left(const Slot& slot, int directory, bool force, const kruxos::Call& call) {
  step("taken out");
  if (force) return;
  std::string print;
  try {
    print = workspace::print_of(slot.get(), taken_name(slot.plan()), until_cancelled(call));
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
  slot.note_compared();
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

void undo_put(const Home& home, Slot& slot, bool force, const kruxos::Call& call) {
  const auto& plan = slot.plan();
  const auto parent = parent_of(home, plan.path);
  must_be_as_left(parent.get(), plan.path, plan, force, call);
  slot.begin_undo();
  if (!plan.replaces) {
    const bool taken = rename_at(parent.get(), plan.path.name(), slot.get(), kUndone, RENAME_NOREPLACE);
    if (!taken && errno != ENOENT) throw workspace::failure_of(errno, plan.path.shown(), "restored");
    if (taken) must_have_been_as_left(slot, parent.get(), force, call);
    finish(parent.get(), slot);
    return remove_made(home, plan);
  }
  const auto& name = plan.path.name();
  const bool exchanged = rename_at(slot.get(), kKept, parent.get(), name, RENAME_EXCHANGE);
  if (!exchanged && !(errno == ENOENT && rename_at(slot.get(), kKept, parent.get(), name, RENAME_NOREPLACE)))
    throw workspace::failure_of(errno, plan.path.shown(), "restored");
  if (exchanged) must_have_been_as_left(slot, parent.get(), force, call);
  finish(parent.get(), slot);
}

void compare_late(const Home& home, const Slot& slot, bool force, const kruxos::Call& call) {
  if (!is_to_be_compared(slot)) return;
  const auto parent = workspace::open_beneath(home.files.get(), slot.plan().path.parent(), kDirectory);
  must_have_been_as_left(slot, parent.get(), force, call);
  slot.note_compared();
  make_durable(slot.get());
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
    const bool is_as_left =
        request.force || !is_to_be_compared(slot) ||
        workspace::print_of(slot.get(), taken_name(slot.plan()), until_cancelled(call)) == slot.plan().print;
    return is_as_left ? EffectFound::found("{}") : EffectFound::cannot_tell(changed_in_store(slot));
  }
  return standing == Standing::kInEffect
             ? EffectFound::disproved()
             : EffectFound::cannot_tell("What was moved is in neither place: somebody has moved it on.");
}

}  // namespace filesystem
