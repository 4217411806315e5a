#include "core/storage/reader_pool.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostIdle = 8;

}  // namespace

std::unique_ptr<ReadConnection> ReaderPool::take() {
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return nullptr;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  auto db = open_reader(file_, kind_);
  if (prepare_) prepare_(db->getHandle());
  return std::make_unique<ReadConnection>(std::move(db));
}

void ReaderPool::give_back(std::unique_ptr<ReadConnection> connection) {
  const std::lock_guard guard(mutex_);
  if (!closed_ && idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

void ReaderPool::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  idle_.clear();
}

}  // namespace krux
