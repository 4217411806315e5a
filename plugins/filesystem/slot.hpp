// What one write needs until nobody can undo it any more: a directory of its own in the agent's undo store, beside the
// workspace and out of the agent's sight.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "workspace/descriptor.hpp"
#include "workspace/home.hpp"
#include "workspace/path.hpp"

namespace filesystem {

/// What a write is about to do with one rename, kept on the disk before it: afterwards the inodes tell whether it was
/// done, whenever the host was killed.
struct Plan {
  enum class Kind {
    kPut,   ///< what stands in the slot takes its place in the workspace, and what was there comes into the slot
    kTake,  ///< what stands in the workspace comes into the slot
    kMove,  ///< from one name in the workspace to another
  };
  Kind kind = Kind::kPut;
  workspace::Path path, to;  ///< `to` of moves
  std::string inode;         ///< of what is put, taken or moved
  bool replaces = false;     ///< something was there: the two change places
  std::size_t made = 0;      ///< of the path's directories, so many at its end
  std::string print;         ///< of what the write leaves behind at its path
  std::string result_json;
  std::int64_t at_ms = 0;
};

enum class Standing { kNone, kInEffect, kUndone, kUnclear };

// In a slot.
inline constexpr const char* kKept = "kept";      // what is to be put; or what was there
inline constexpr const char* kUndone = "undone";  // what an undo has taken away

class Slot {
 public:
  /// The one of that write; nothing in it where it was never made.
  static Slot find(const workspace::Home& home, const std::string& write_id);
  /// An empty one.
  static Slot make(const workspace::Home& home, const std::string& write_id);

  explicit operator bool() const { return static_cast<bool>(directory_); }
  int get() const { return directory_.get(); }
  const std::string& write_id() const { return write_id_; }
  bool has_plan() const { return has_plan_; }
  const Plan& plan() const { return plan_; }

  /// Durable on return.
  void keep(Plan plan);
  /// Before an undo does anything: what stands in the slot now. Durable on return.
  void begin_undo();
  /// After an undo: what it has taken out of the workspace was what the write had left, or the operator insisted.
  void note_compared() const;
  /// Whether an undo ended between its rename and the comparison with what came out of the workspace. It may have been
  /// changed, and whoever asks is told that it is here: until it is compared it is kept.
  bool is_to_be_compared(const workspace::Home& home) const;
  /// Where an undo of a put has put what it has taken out of the workspace.
  const char* taken_name() const { return plan_.replaces ? kKept : kUndone; }
  /// Empty where no undo has begun.
  std::string inode_before_undo() const;
  Standing standing(const workspace::Home& home) const;
  /// Lets what is kept go, and remembers how the write stood: what came of it can be asked for longer than it can be
  /// undone.
  void retire(const workspace::Home& home);
  bool is_retired() const;

 private:
  workspace::Descriptor directory_;
  std::string write_id_;
  Plan plan_;
  bool has_plan_ = false;
};

std::string inode_of(const struct stat& found);
/// Empty where there is nothing.
std::string inode_at(int directory, const std::string& name);

/// What the write's slot takes on the disk. An entry counts as 512 bytes at least.
std::uint64_t kept_bytes(const workspace::Home& home, const std::string& write_id);

/// Takes away what is older than `keep_ms`, and retires the oldest while all together is more than `most_bytes`, but
/// for what is still to be compared. What is left.
std::uint64_t prune(const workspace::Home& home, std::int64_t now_ms, std::int64_t keep_ms, std::uint64_t most_bytes);

}  // namespace filesystem
