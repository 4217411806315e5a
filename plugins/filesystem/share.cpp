#include "share.hpp"

#include "workspace/failure.hpp"

namespace filesystem {
namespace {

kruxos::ProxyError full(const char* sentence) {
  return workspace::refused(sentence, "WorkspaceFull");
}

}  // namespace

Room::Room(Share& share, const workspace::Home& home, const Options& options, workspace::Size wanted,
           const workspace::MayGoOn& may_go_on)
    : share_(share), size_(wanted) {
  workspace::Size before;
  {
    const std::lock_guard lock(share_.mutex);
    before = share_.placed;
  }
  const auto used = workspace::size_of(home.directory.get(), "files", options.workspace_entries + 1, may_go_on);
  if (!used.is_whole)
    throw full(
        "The workspace cannot be counted: a directory in it nests more than 96 deep, or may not be listed. Delete it "
        "first.");
  if (used.entries > options.workspace_entries || used.bytes >= options.workspace_bytes)
    throw full("The workspace is full: delete something first, or ask the operator for more.");
  const std::lock_guard lock(share_.mutex);
  // What others have placed since the count began may have been missed by it.
  const auto bytes = used.bytes + share_.promised.bytes + (share_.placed.bytes - before.bytes);
  const auto entries = used.entries + share_.promised.entries + (share_.placed.entries - before.entries);
  if (bytes + size_.bytes > options.workspace_bytes || entries + size_.entries > options.workspace_entries + 1)
    throw full("The workspace has no room for so much: delete something first.");
  share_.promised.bytes += size_.bytes;
  share_.promised.entries += size_.entries;
}

Room::~Room() {
  const std::lock_guard lock(share_.mutex);
  share_.promised.bytes -= size_.bytes;
  share_.promised.entries -= size_.entries;
  share_.placed.bytes += size_.bytes;
  share_.placed.entries += size_.entries;
}

}  // namespace filesystem
