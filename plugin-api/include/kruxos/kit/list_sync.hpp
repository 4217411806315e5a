// kruxos/kit/list_sync.hpp - a service's list, which can be asked for what has changed since a time, as a collection.
//
//   ListSync{.collection = "tasks", .list = {"tasks?per_page=100", Paging::by_link()}, .since = "updated_since",
//            .record = record_of, .is_gone = [](const Json& task) { return flag_of(task, "deleted"); }}
//
// One page is one step. Where the pass is stands in a cursor of the collection's name, so that a host which is killed
// goes on there. The times are the service's own (its header Date): "since" goes back behind the beginning of the
// last pass, so that nothing is missed that has changed while a pass went on. Without that header it stays where it
// was: what has changed since then is asked for again and again, and nothing is lost. A service that pages by offset or
// number can hide a row once, when another goes meanwhile: there a row is gone when two whole passes have not seen it.
#pragma once
#include <kruxos/adapter/roles.hpp>
#include <kruxos/kit/cursor.hpp>
#include <kruxos/kit/rest.hpp>
#include <kruxos/kit/sync.hpp>
#include <kruxos/kit/time.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace kruxos::kit {

struct ListSync {
  std::string collection{};
  Listing list{};
  std::string since{};  ///< the query's parameter for the time; empty: every pass is a whole one
  /// What is put of a row. The pass's generation is set by full_step() and next_step(). A record without an id, and
  /// whatever this throws, fails the step: nothing of the page is taken then.
  std::function<Record(const Json&)> record{};
  /// Of a row that says that it is no more; without it no row does.
  std::function<bool(const Json&)> is_gone{};
  std::function<std::string(std::int64_t)> format_since = format_rfc3339;
  /// How often everything is listed anew, for a service that does not say what is gone. 0: never.
  std::int64_t whole_every_ms = 0;
  /// How far behind a pass's beginning the next one asks: the service's servers need not agree about the time.
  std::int64_t overlap_ms = 60'000;

  /// One step of SyncAdapter::full_sync.
  SyncStep full_step(const RestClient& api, const Call& call, SyncStore& store) const {
    auto pass = load_cursor<Pass>(store, collection);
    if (pass.next.empty() || !pass.whole) pass = begin(call, pass, true);
    return step(api, call, store, std::move(pass));
  }

  /// One step of SyncAdapter::incremental_sync.
  SyncStep next_step(const RestClient& api, const Call& call, SyncStore& store) const {
    auto pass = load_cursor<Pass>(store, collection);
    const bool due = whole_every_ms > 0 && is_due(call.now_ms(), pass.whole_at_ms, whole_every_ms);
    if (pass.next.empty()) pass = begin(call, pass, due || since.empty() || pass.since_ms == 0);
    return step(api, call, store, std::move(pass));
  }

 private:
  /// What the cursor keeps.
  struct Pass {
    std::string next{};            ///< the page that is due; empty between two passes
    bool whole = false;            ///< it lists everything: what it does not see is gone
    std::int64_t generation = 0;   ///< of the pass
    std::int64_t seen_whole = 0;   ///< the generation of the last whole pass that came to its end
    std::int64_t whole_at_ms = 0;  ///< when the last whole pass began, by the host's clock
    std::int64_t since_ms = 0;     ///< what the next pass asks with, by the service's clock; 0: unknown
    std::int64_t began_ms = 0;     ///< this pass, by the service's clock; 0: unknown, -1: it has not begun
    template <class Self, class Visit>
    static void each(Self& self, Visit&& visit) {
      visit("next", self.next);
      visit("whole", self.whole);
      visit("generation", self.generation);
      visit("seen_whole", self.seen_whole);
      visit("whole_at_ms", self.whole_at_ms);
      visit("since_ms", self.since_ms);
      visit("began_ms", self.began_ms);
    }
  };

  Pass begin(const Call& call, Pass pass, bool whole) const {
    pass.whole = whole;
    pass.next = whole ? list.url : with_parameter(list.url, since, format_since(pass.since_ms));
    pass.began_ms = -1;
    // Greater than that of any pass before, also where the cursors were removed.
    pass.generation = std::max(pass.generation + 1, call.now_ms());
    if (whole) pass.whole_at_ms = call.now_ms();
    return pass;
  }

  SyncStep step(const RestClient& api, const Call& call, SyncStore& store, Pass pass) const {
    std::optional<std::int64_t> date_ms;
    const auto on_row = [&](const Json& row) { take(store, row, pass.generation); };
    try {
      pass.next = api.page(call, list, pass.next, on_row, &date_ms);
    } catch (const ProxyError& error) {
      if (pass.began_ms >= 0 && is_refusal(error.kind())) forget_page(store, pass);
      throw;
    }
    if (pass.began_ms < 0) pass.began_ms = date_ms.value_or(0);
    if (pass.next.empty()) {
      if (pass.whole) sweep(store, pass);
      if (pass.began_ms > 0) pass.since_ms = std::max<std::int64_t>(pass.began_ms - overlap_ms, 1);
    }
    save_cursor(store, collection, pass);
    store.commit();
    return pass.next.empty() ? SyncStep::done() : SyncStep::more();
  }

  /// What no whole pass has seen is gone. By places one pass may miss a row that moved: two in a row have to.
  void sweep(SyncStore& store, Pass& pass) const {
    const auto seen_before = std::exchange(pass.seen_whole, pass.generation);
    store.sweep(collection, "", list.paging.is_by_place() ? seen_before : pass.generation);
  }

  static bool is_refusal(ErrorKind kind) {
    return kind == ErrorKind::kNotFound || kind == ErrorKind::kRefused || kind == ErrorKind::kInvalid;
  }
  /// The service no longer knows a page that it has named: the pass begins anew with the next step.
  void forget_page(SyncStore& store, Pass pass) const {
    pass.next.clear();
    if (pass.whole) pass.whole_at_ms = 0;  // still due
    save_cursor(store, collection, pass);
    store.commit();
  }

  void take(SyncStore& store, const Json& row, std::int64_t generation) const {
    auto made = record(row);
    made.collection = collection;
    made.generation = generation;
    if (made.id.empty()) throw ProxyError(ErrorKind::kUnavailable, "The service has listed something without an id.");
    if (is_gone && is_gone(row)) {
      store.erase(collection, made.id);
    } else {
      store.put(made);
    }
  }
};

}  // namespace kruxos::kit
