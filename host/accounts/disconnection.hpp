// One disconnection of an account, from the order to the receipt. docs/disconnecting.md tells the story.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/write/disconnect_receipts.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {

/// Every step may be repeated: a disconnection that a crash has cut short is gone through again, and finds done what is
/// done. On one thread.
class Disconnection {
 public:
  struct Revocation {
    std::optional<std::string> failed;  ///< why the service has not forgotten the token, a sentence
    std::string done = "The service has forgotten the token.";
  };
  struct Access {
    const ServiceHost::Parts& parts;
    /// Makes the service forget the token.
    std::function<Revocation(const Receipt&)> revoke;
    std::function<void(const ActiveAccountPtr&)> sync_again;
    /// Waits for a moment of real time; false: the host stops.
    std::function<bool()> pause;
  };
  Disconnection(Access access, Receipt receipt, DisconnectOrder order)
      : access_(std::move(access)), parts_(access_.parts), receipt_(std::move(receipt)), order_(std::move(order)) {}

  /// Throws krux::Error: ConflictError when it stopped, with everything as before but the cancelled writes;
  /// ServiceUnavailable when the host stops, DatabaseError: the same order goes on later.
  Receipt run();
  /// Of an earlier run of the host: nothing of it that waits may be sent now.
  void cancel_waiting();

 private:
  void stop_sync();
  void cancel_round();
  void remember(const std::vector<WriteRecord>& writes);
  void settle_writes();
  bool await_outcomes();
  void revoke_token();
  void remove_token();
  void await_release();
  void remove_replica();
  [[noreturn]] void stop(const std::string& step, const std::string& message);
  std::vector<WriteRecord> open_writes() const;
  WriteFilter of_account() const;
  bool is_done(const std::string& step) const;
  void note(const std::string& step, const std::string& outcome, const std::string& message);
  ActiveAccountPtr account() const;
  std::string name() const;

  Access access_;
  const ServiceHost::Parts& parts_;
  Receipt receipt_;
  const DisconnectOrder order_;
  std::set<std::int64_t> noted_;           ///< seq of writes that the receipt has
  std::weak_ptr<ServiceAdapter> adapter_;  ///< whoever works for the account holds it
};

/// Deletes the replica's files, those that were set aside for damage too; throws krux::Error DatabaseError while one of
/// them is left.
void delete_replica_files(const std::filesystem::path& file);

}  // namespace krux
