// The host's configuration: flag over environment over file over default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/state/state_entry.hpp"

namespace krux {

/// Where an adapter's code runs.
enum class Isolation { kInProcess, kProcess };

/// Of an adapter's own process.
struct RunnerLimits {
  std::int64_t memory_mb = 512;
  std::int64_t open_files = 64;
};

struct ServiceConfig {
  bool enabled = true;
  std::string api_base_url;  ///< empty: the definition's
  std::optional<std::int64_t> sync_interval_ms;
  std::optional<std::vector<QuotaRule>> quota;  ///< replaces the definition's rules of the same `match`
  std::optional<Isolation> isolation;           ///< nothing: its bundle's or directory's default
  RunnerLimits runner;
  /// Instead of what the definition says; empty: as it says.
  struct OAuth {
    std::string authorize_url, token_url, revoke_url, redirect_uri;
    std::string client_id;  ///< where the command names none
    std::optional<std::uint16_t> callback_port;
  } oauth;
  std::string adapter_config_json = "{}";  ///< handed to the adapter; its schema checks it
};

struct Config {
  std::filesystem::path data_dir, plugins_dir, definitions_dir, vault_key_file;  ///< absolute
  std::filesystem::path policies_dir;                                            ///< absolute; empty: there are none
  std::filesystem::path bundles_dir;                                             ///< of the installed bundles
  /// Of the counters that show copies: absolute, outside of every data directory.
  std::filesystem::path places_dir;
  bool held = false;  ///< every write that has not ended waits for the operator; a flag of one start, not a setting
  struct VaultConfig {
    bool passphrase = false;  ///< of a new vault; one that exists stays as it is
    std::int64_t argon2_passes = 3, argon2_memory_mib = 256;
  } vault;
  struct Server {
    std::string host = "127.0.0.1";
    std::uint16_t port = 7700, health_port = 7704;   ///< 0: a free one, see $data_dir/ports.json
    std::optional<std::uint16_t> web_port;           ///< of the operator's page; nothing: there is none
    std::filesystem::path tls_certificate, tls_key;  ///< both or none
    bool allow_plain_http = false;                   ///< without them beyond the loopback
    std::int64_t connections = 1024;                 ///< of agents, at most half of the process's descriptors
    std::string mcp_labels_key = "ifc";              ///< of _meta in what was read; empty: none
    std::vector<std::string> allowed_origins;        ///< of web pages that may use /mcp, "https://app.example"
    struct SignIn {
      bool enabled = false;
      std::string public_url;  ///< an origin; empty: made of host and port
      std::int64_t access_token_ms = 3'600'000, idle_ms = 30 * 86'400'000LL;
    } sign_in;
  } server;
  struct Operator {
    std::optional<bool> agents_share_user;  ///< nothing: yes, but in a data directory of before without a passphrase
    std::int64_t grant_ms = 600'000;
    bool invite_to_page = true;  ///< clients of agents that wait lead their users to the page
  } operators;
  struct Log {
    std::string level = "info";
    bool json = false;
  } log;
  std::map<std::string, ServiceConfig> services;
  std::map<std::string, std::string> service_places;  ///< where each was named first, as Shown::origin
  struct WriteBufferConfig {
    std::int64_t default_delay_ms = 30'000;
    std::map<std::string, std::int64_t> delays_ms;  ///< by operation
    int executor_concurrency = 4;
    std::int64_t order_wait_ms = 300'000;    ///< how long a write holds up those behind it
    std::optional<bool> escalate_on_exceed;  ///< overrides every definition's on_exceed
  } write_buffer;
  struct Retry {
    std::vector<std::int64_t> schedule_ms{60'000, 120'000, 240'000, 480'000, 960'000};
    std::optional<std::int64_t> settle_ms;  ///< overrides every definition's
    std::vector<std::int64_t> look_gaps_ms{60'000, 120'000, 240'000, 480'000};
    std::int64_t late_look_gap_ms = 960'000;
  } retry;
  struct Uploads {
    std::int64_t bytes = 32 << 20, agent_bytes = 256 << 20, keep_ms = 24 * 3'600'000LL;  ///< as UploadLimits
  } uploads;
  StateLimits state;
  struct Net {
    std::filesystem::path ca_file;                 ///< trusted besides the system's
    std::vector<std::string> allow_private_hosts;  ///< addresses and networks that are not public and may be reached
  } net;
  struct Audit {
    bool stops_reads = false;  ///< where the log cannot be written; writes stop in any case
    /// Of its signatures, and where signed heads go: beside the vault's key unless they are set.
    std::filesystem::path key_file, anchor_file;
    std::int64_t keep_ms = 0;  ///< 0: for good
  } audit;
  struct WebhookConfig {
    std::string url;                    ///< empty: there is none
    std::filesystem::path secret_file;  ///< beside the vault's key unless it is set
    std::string queue_url;              ///< where the operator decides; empty: messages link to nothing
    bool details = false;               ///< summaries, reasons and alerts' texts go out too
  } webhook;
  struct MetricsConfig {
    bool enabled = true;
  } metrics;
  int worker_threads = 8;

  /// What config_json shows: every setting's value as JSON and where it came from ("default", "file.yaml:7",
  /// "environment KRUXOS_SERVER__PORT", "flag server.port").
  struct Shown {
    std::string value_json, origin;
  };
  std::map<std::string, Shown> shown;  ///< by key: "server.port"
};

/// `file` may be empty. `environment`: "NAME=value" texts, of which those that begin with KRUXOS_ count; `flags`:
/// "server.port=7701" texts. Relative paths of the file are below the file's directory. `executable` is the running
/// program, whose installation the default directories belong to; empty: ask the system. Throws ConfigError with the
/// file's line, the variable's or the flag's name, what is wrong and what is accepted. docs/configuration.md lists all.
Config load_config(const std::filesystem::path& file, const std::vector<std::string>& environment,
                   const std::vector<std::string>& flags, const std::filesystem::path& executable = {});

/// One JSON object {"server.port": {"value": 7700, "origin": "default"}, ...}, for `kruxos config show`.
std::string config_json(const Config& config);

}  // namespace krux
