// The inside of AuditLog.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/audit/anchor_writer.hpp"
#include "core/audit/audit_file.hpp"
#include "core/audit/audit_log.hpp"
#include "core/audit/signing_key.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"

namespace krux {

struct AuditLog::State {
  State(GroupCommit& s, Clock& c, AuditOptions o);
  ~State();

  void work();
  bool is_to_be_anchored() const;
  void wait(std::unique_lock<std::mutex>& lock);
  bool write_all();
  bool write_once();
  void open();
  void check_place();
  void compare_with_outbox();
  void compare_with_heads();
  AuditHead newest_head_known();
  bool take_queue();
  void let_go_of_pending();
  std::size_t in_memory() const { return queue.size() + held; }  ///< with `mutex`
  void append(std::vector<SourcedEntry> from_outbox, std::int64_t source);
  void forget(std::int64_t source);
  void open_key();
  void keep_order();
  void rotate();
  void adopt();
  void anchor();
  void cut();
  void set_problem(const std::string& why);

  GroupCommit& store;
  Clock& clock;
  const AuditOptions options;
  ReaderPool ledger;

  // Of the thread.
  std::optional<AuditFile> file;
  FilePlace place;                                       ///< of the file as it was opened first
  bool displaced = false;                                ///< what lies in that place is not what is open
  std::vector<SourcedEntry> pending;                     ///< taken from the queue, and not known to be in the file
  AuditHead expected;                                    ///< of the file once `pending` is in it
  std::shared_ptr<const SigningKey> key;                 ///< null: nothing is signed
  std::optional<AnchorWriter> anchors;                   ///< where there is a file for them
  std::int64_t anchored = 0;                             ///< the head that was anchored last
  std::int64_t anchor_due_boot_ms = 0;                   ///< the next one
  std::int64_t newest_before_ms = 0, began_boot_ms = 0;  ///< the last row's time before this start; when that was
  std::optional<std::int64_t> cut_boot_ms;
  bool anchor_fails = false;

  mutable std::mutex mutex;
  std::condition_variable changed, finished;
  std::vector<AuditEntry> queue;
  std::size_t held = 0;  ///< of `pending`: they still take their place in memory
  std::int64_t lost = 0, lost_since_ms = 0;
  std::int64_t telling = 0;                    ///< lost ones that a row of `pending` tells of
  std::int64_t asked = 0, done = 0, good = 0;  ///< rounds of flush()
  bool stopping = false;
  std::string log_id, problem;
  std::shared_ptr<const SigningKey> signer;  ///< as `key`, for others
  bool rotation_wanted = false, anchor_wanted = false;
  std::string rotation_problem;
  AuditHead head;
  Anchor newest_anchor;
  std::atomic<bool> news{true};
  std::thread thread;
};

}  // namespace krux
