// Installing and removing bundles: files below the bundles directory, pins in the data directory. Works whether a host
// runs or not; a running one goes on with what it has loaded.
#pragma once

#include <filesystem>
#include <string>

#include "core/util/descriptor.hpp"
#include "host/bundles/pins.hpp"

namespace krux {

/// One at a time for a data directory: the lock is held until it is destroyed. One thread.
class BundleStore {
 public:
  /// Makes what is missing of both directories. Throws ConfigError with what to do when they belong to another user,
  /// others can reach them, another installation is under way, or the pins are damaged.
  BundleStore(const std::filesystem::path& data_dir, std::filesystem::path bundles_dir);
  ~BundleStore();  ///< removes what was staged and not installed
  BundleStore(const BundleStore&) = delete;
  BundleStore& operator=(const BundleStore&) = delete;

  const BundlePins& pins() const { return pins_; }

  /// Copies the manifest of `source` and the files that it names (regular files, of bounded size) and returns the
  /// directory with the copies, which are read-only and durable. Throws ConfigError.
  std::filesystem::path stage(const std::filesystem::path& source);

  /// What was staged becomes the service's bundle, in one step: before it the old one is installed, behind it the new
  /// one. `pin` needs no directory. The files of the one before are left to remove_leftovers(). Throws ConfigError or
  /// krux::Error.
  void install(BundlePin pin);

  /// Its files are left to remove_leftovers(). Throws krux::Error, and ConfigError when it is not installed.
  void remove(const std::string& service);

 private:
  void copy(const std::filesystem::path& from, const std::string& name, std::uintmax_t& room);
  void write_pins();

  const std::filesystem::path data_dir_, bundles_dir_, staging_;
  Descriptor lock_;
  BundlePins pins_;
};

/// Where an installation is prepared: each data directory has its own place, for two may share a bundles directory.
std::filesystem::path staging_directory(const std::filesystem::path& data_dir,
                                        const std::filesystem::path& bundles_dir);

/// What interrupted installations, earlier versions and removed bundles have left. For the host's start, which owns the
/// data directory: nothing else knows that no adapter runs from there. Only what was made for this data directory is
/// removed. Does nothing while an installation is under way.
void remove_leftovers(const std::filesystem::path& data_dir, const std::filesystem::path& bundles_dir);

}  // namespace krux
