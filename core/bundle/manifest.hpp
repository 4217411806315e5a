// A third-party adapter as a directory: what its manifest.yaml says. docs/certify.md describes the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

/// The newest `manifest:` that this program reads.
inline constexpr std::int64_t kBundleManifestVersion = 1;

/// One HTTP request to the author's fake service. path and body may hold placeholders (core/bundle/placeholders.hpp).
struct BundleRequest {
  std::string method, path;  ///< the path starts with '/', and counts from the service's root
  std::string body_json;     ///< one JSON value; empty: no body
};

/// Something to look at in the fake service: the value at a JSON pointer of the answer.
struct BundleMeasure {
  BundleRequest request;
  std::string pointer;  ///< RFC 6901; empty: the whole answer
};

/// How one write operation is tried out.
struct BundleWrite {
  std::string operation, params_json = "{}";
  std::vector<BundleRequest> before;     ///< before every execution
  std::optional<BundleMeasure> effects;  ///< an array, object or number that grows by one with each effect
  std::optional<BundleMeasure> state;    ///< what a rollback restores
  std::vector<BundleRequest> change;     ///< changes what the write left behind, as somebody else would
  bool can_find = true;                  ///< `find: cannot_tell`: the service gives nothing to find an effect by
};

/// What `kruxos adapter certify` needs besides.
struct BundleConformance {
  std::vector<std::string> fake_service;  ///< argv
  std::string ready, api_base_url, token, account, config_json = "{}";
  std::vector<BundleRequest> prepare, changes;
  std::optional<BundleRequest> expire_cursors;
  std::map<std::string, std::string> settings;  ///< of the account
  std::map<std::string, std::string> reads;     ///< sample parameters, JSON, by capability
  std::vector<BundleWrite> writes;

  const BundleWrite* find(const std::string& operation) const;
};

struct BundleManifest {
  std::filesystem::path directory, file;  ///< absolute where load_manifest() made it; empty where it was parsed
  std::string service, version;
  std::int64_t abi = 0;
  std::string library, definition, policy;    ///< names of files in the directory; policy may be empty
  std::vector<std::string> hosts;             ///< as the definition names them, api_base_url's included
  std::map<std::string, std::string> hashes;  ///< lower-case hex SHA-256 by file name
  std::optional<BundleConformance> conformance;
};

/// `name` stands in the sentences where a file's name would. Throws ConfigError "file:line:column: what is wrong".
BundleManifest parse_manifest(std::string_view text, const std::string& name);

/// `path` is a manifest or the directory that holds manifest.yaml. Throws ConfigError, also when a file that it names
/// is missing or has another hash than it says.
BundleManifest load_manifest(const std::filesystem::path& path);

/// Lower-case hex SHA-256 of a file of the bundle. Throws ConfigError: missing, no regular file (a symbolic link is
/// none), larger than 256 MiB.
std::string bundle_file_hash(const BundleManifest& manifest, const std::string& name);

/// Why the definition is not the one that the manifest speaks of (service, hosts), as a sentence; empty when it is.
std::string why_not_definition(const BundleManifest& manifest, const ServiceDefinition& definition);

}  // namespace krux
