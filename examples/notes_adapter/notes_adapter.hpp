// Every role of an adapter, step by step, against an imaginary service of notes. A service that is plain REST needs
// less: examples/tasks_adapter.
//
//   GET    me                                -> {"id", "name"}            whose token it is
//   DELETE token                             -> 204                       forget the token
//   GET    notes?after=ID&since=MS&limit=N   -> {"notes": [NOTE ...], "next": ID or absent}   in the order of their ids
//   GET    notes?marker=TEXT                 -> {"notes": [NOTE ...]}
//   GET    notes/ID                          -> NOTE or 404
//   POST   notes {"text", "marker"}          -> 201 NOTE
//   DELETE notes/ID                          -> 204 or 404
//   NOTE: {"id", "text", "marker", "updated_ms"}; with since=MS also {"id", "deleted": true, ...} of those that are
//   gone
#pragma once
#include <kruxos/adapter.hpp>

namespace notes {

class NotesAdapter final : public kruxos::SyncAdapter,
                           public kruxos::ReadAdapter,
                           public kruxos::WriteExecutor,
                           public kruxos::RollbackCapable,
                           public kruxos::AccountAdapter {
 public:
  NotesAdapter(kruxos::Host host, const kruxos::Account& account);
  static kruxos::Description describe();

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override;
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store,
                                    std::int64_t last_sync_ms) override;

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override;

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;

  bool supports_rollback(std::string_view operation) override;
  std::string create_rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override;
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override;

  kruxos::Identity verify(const kruxos::Call& call) override;
  void revoke(const kruxos::Call& call) override;

 private:
  /// The answer to a request that may only succeed; failures of the service become a ProxyError.
  kruxos::HttpResponse ask(const kruxos::Call& call, const kruxos::HttpRequest& request) const;
  kruxos::SyncStep sync_page(const kruxos::Call& call, kruxos::SyncStore& store, bool everything);

  kruxos::Host host_;
  std::int64_t page_size_;
};

}  // namespace notes
