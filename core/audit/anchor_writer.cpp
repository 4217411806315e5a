#include "core/audit/anchor_writer.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/util/error.hpp"

namespace krux {

struct AnchorWriter::Shared {
  explicit Shared(std::function<void(const Anchor&)> a) : append(std::move(a)) {}

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return wanted || stopping; });
      if (!wanted) return;
      const auto anchor = *wanted;
      lock.unlock();
      std::optional<Error> failed;
      try {
        append(anchor);
      } catch (const Error& error) {
        failed = error;
      }
      lock.lock();
      failure = std::move(failed);
      wanted.reset();
      changed.notify_all();
    }
  }

  const std::function<void(const Anchor&)> append;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Anchor> wanted;  ///< is being written
  std::optional<Error> failure;  ///< of the last one
  bool stopping = false;
  std::thread thread;
};

AnchorWriter::AnchorWriter(std::function<void(const Anchor&)> append, std::chrono::milliseconds patience)
    : shared_(std::make_shared<Shared>(std::move(append))), patience_(patience) {
  shared_->thread = std::thread([shared = shared_] { shared->work(); });
}

AnchorWriter::~AnchorWriter() {
  const bool hangs = [this] {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
    return shared_->wanted.has_value();
  }();
  shared_->changed.notify_all();
  hangs ? shared_->thread.detach() : shared_->thread.join();
}

void AnchorWriter::write(const Anchor& anchor) {
  const auto no_answer = [] {
    return database_error(
        "The audit log's heads are not written: the file system of audit.anchor_file does not answer. Check the share "
        "that it is on, or set audit.anchor_file.");
  };
  std::unique_lock lock(shared_->mutex);
  if (shared_->wanted) throw no_answer();
  shared_->wanted = anchor;
  shared_->changed.notify_all();
  if (!shared_->changed.wait_for(lock, patience_, [this] { return !shared_->wanted; })) throw no_answer();
  if (shared_->failure) throw *std::exchange(shared_->failure, std::nullopt);
}

}  // namespace krux
