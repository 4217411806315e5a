// The `kruxos` command's operations. Each returns the exit code and throws CliError.
#pragma once

#include <string>

#include "host/cli/session.hpp"

namespace krux::cli {

int show_status(const Session& session);
int show_config(const Session& session);
int list_plugins(const Session& session);
int release_plugin(const Session& session, const std::string& service);
/// Works without a running host.
int verify_plugin(const Session& session, const std::string& file, const std::string& definitions);
/// Works without a running host.
int certify_adapter(const Session& session, CertifyRequest request);
int list_alerts(const Session& session, bool all);
int acknowledge_alert(const Session& session, std::int64_t id);

int create_agent(const Session& session, const std::string& name);
int list_agents(const Session& session);
int show_agent(const Session& session, const std::string& name);
int rotate_agent(const Session& session, const std::string& name, bool yes);
int revoke_agent(const Session& session, const std::string& name, bool yes);

/// `service` "status" shows all connections instead.
int connect_service(const Session& session, const std::string& service);
int sync_service(const Session& session, const std::string& service, bool wait);

int list_writes(const Session& session, const std::string& service, int recent);
int show_write(const Session& session, const std::string& id);
int cancel_write(const Session& session, const std::string& id, bool yes);
/// `decision`: "resend", "discard" or "happened".
int resolve_write(const Session& session, const std::string& id, const std::string& decision, bool yes);

/// Shown by `kruxos completion bash`.
extern const char* const kBashCompletion;

}  // namespace krux::cli
