// Writes: each one is prepared out of the agent's sight and takes effect by one rename, so that it is there whole or
// not at all, and what was there before is kept.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "options.hpp"
#include "share.hpp"
#include "slot.hpp"
#include "workspace/home.hpp"
#include "workspace/tree.hpp"

namespace filesystem {

/// Any thread.
class Changes {
 public:
  Changes(const workspace::Homes& homes, Options options) : homes_(homes), options_(std::move(options)) {}

  std::string execute(const kruxos::Call& call, const kruxos::BufferedWrite& write);
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request);
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;

  static bool is_change(std::string_view operation);

 private:
  /// Puts something new into `directory` under `name`.
  using Stage = std::function<void(int directory, const std::string& name)>;
  struct Putting {
    workspace::Path path;
    bool overwrite = false;
    Stage stage;
    std::function<std::string(bool replaced)> result;
  };
  std::string change(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write) const;
  std::string put(const kruxos::Call& call, const workspace::Home& home, std::string_view write_id,
                  const Putting& putting) const;
  bool try_to_put(const kruxos::Call& call, const workspace::Home& home, std::string_view write_id,
                  const Putting& putting, std::string& result) const;
  std::string write_file(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write,
                         const kruxos::kit::Json& params) const;
  std::string make_directory(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write,
                             const kruxos::kit::Json& params) const;
  std::string copy(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write,
                   const kruxos::kit::Json& params) const;
  std::string move(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write,
                   const kruxos::kit::Json& params) const;
  std::string take(const kruxos::Call& call, const workspace::Home& home, const kruxos::BufferedWrite& write,
                   const kruxos::kit::Json& params) const;
  void prune_now_and_then(const workspace::Home& home, const kruxos::Call& call, Share& share) const;
  Share& share_of(std::string_view agent) const;

  const workspace::Homes& homes_;
  const Options options_;
  mutable std::mutex shares_mutex_;
  mutable std::map<std::string, std::unique_ptr<Share>, std::less<>> shares_;  ///< by agent
};

/// For loops before anything has happened: what it throws says that there is no effect.
workspace::MayGoOn until_cancelled(const kruxos::Call& call);

}  // namespace filesystem
