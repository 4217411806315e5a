// Which requests on the operator's socket need the operator himself: an agent may run as the same user, and the kernel
// then says the same of both. docs/adr/0032
#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/state/operator_secret.hpp"
#include "core/write/alerts.hpp"
#include "core/write/write.hpp"
#include "host/http/http_types.hpp"
#include "host/operator/operator_grants.hpp"

namespace krux {

/// "operator:ann", of the user with that id.
std::string operator_name(uid_t uid);
/// "ann": of the user under whom the host runs.
std::string host_user_name();

/// The header that a grant is shown in.
inline constexpr std::string_view kGrantHeader = "kruxos-grant";

/// Any thread that may block. What it is given must outlive it.
class OperatorGate {
 public:
  struct Options {
    /// Whether agents may run as the user that the host runs as. Nothing: they may, unless the data directory was in
    /// use before there were passphrases and none is set.
    std::optional<bool> agents_share_user;
    SittingLimits grants;
    uid_t owner = ::geteuid();
  };
  OperatorGate(OperatorSecret& secret, AlertStore& alerts, const Clock& clock, const Options& options);

  /// Whether what lets things happen needs the operator's passphrase.
  bool needs_passphrase() const;
  /// Who asks: by the grant that is shown, whose idle time begins anew, else by the user that the kernel names.
  DecidingOperator asking(const ServerRequest& request);
  /// Throws krux::Error: NotAuthenticated where a grant is needed and not shown, ConflictError where no passphrase is
  /// set that one could be had for. Both say in their context what is needed.
  void must_be_operator(const ServerRequest& request, const DecidingOperator& by) const;
  /// The same wherever a passphrase is set, whoever asks at the socket: root, and where no agent shares its user.
  void must_be_known(const DecidingOperator& by) const;

  // Each answers one JSON object; docs/operator-api.md has the shapes.
  std::string status();
  /// `name`: of the operator whose passphrase it is; may be empty where there is one.
  std::string give_grant(const ServerRequest& request, const Secret& passphrase, const std::string& name);
  std::string set_passphrase(const ServerRequest& request, const Secret& present, const Secret& wanted,
                             const std::string& name, const std::string& who);
  std::string add_operator(const std::string& name, const Secret& wanted, const std::string& who);
  std::string remove_operator(const std::string& name, const std::string& who);

 private:
  bool is_root_besides(const Peer& peer) const;
  void tell_of_operators(const std::string& sentence);
  void tell_of_wrong(OperatorSecret::Place place, int in_a_row);

  OperatorSecret& secret_;
  AlertStore& alerts_;
  const Options options_;
  OperatorGrants grants_;
};

}  // namespace krux
