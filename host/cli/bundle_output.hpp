// What a bundle asks for, in plain words.
#pragma once

#include <string>
#include <vector>

#include "host/bundles/pins.hpp"
#include "host/cli/session.hpp"

namespace krux::cli {

struct BundleOffer {
  std::filesystem::path source;
  BundlePin pin;                    ///< as it would be installed
  const BundlePin* before;          ///< of the version that is installed; nullptr: none
  std::vector<TermChange> changes;  ///< since then
  bool host_runs = false;
  std::string isolation;  ///< "process", "in_process": as the running host is configured; empty: nobody knows
};

/// Texts of the bundle cannot steer the terminal.
void print_offer(const Session& session, const BundleOffer& offer);

/// One JSON object; docs/bundles.md has the shape.
std::string offer_json(const BundleOffer& offer, bool installed);

}  // namespace krux::cli
