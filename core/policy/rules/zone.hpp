// A time zone of the system's database, for conditions of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace krux {

/// Immutable: what it knows was read when it was made. Any thread.
class Zone {
 public:
  /// By its IANA name, "Europe/Berlin". Throws ConfigError, a sentence without a place, where there is none.
  static std::shared_ptr<const Zone> named(const std::string& name);

  const std::string& name() const { return name_; }
  /// Seconds that its clocks are ahead of UTC at that time.
  std::int64_t offset_s(std::int64_t unix_s) const;

 private:
  Zone() = default;
  std::string name_;
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets_;  ///< from this time on (Unix seconds), so many seconds
};

}  // namespace krux
