// Tells open pages that writes have changed, by server-sent events.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "core/util/clock.hpp"
#include "host/http/http_types.hpp"

namespace krux::web {

/// Any thread.
class WebChanges {
 public:
  explicit WebChanges(Clock& clock);
  ~WebChanges();  ///< stop()
  WebChanges(const WebChanges&) = delete;
  WebChanges& operator=(const WebChanges&) = delete;

  /// Something has changed. Returns at once.
  void changed();
  /// A page that listens, for as long as `goes_on` says; it runs on a thread of this and must not block.
  void add(std::shared_ptr<ResponseStream> stream, std::function<bool()> goes_on);
  /// Ends all streams; later ones end at once.
  void stop();

 private:
  struct Listener {
    std::shared_ptr<ResponseStream> stream;
    std::function<bool()> goes_on;
  };
  void loop();
  void tell(std::string_view event);

  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Listener> listeners_;
  std::uint64_t changes_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace krux::web
