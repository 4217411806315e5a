#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/certify/checks.hpp"
#include "host/certify/sync_trial.hpp"

namespace krux::certify {
namespace {

/// Passes that a change may take to arrive, and how far the clock is moved for those that come seldom.
constexpr int kPassesForChanges = 4;
constexpr std::int64_t kLongWhileMs = 3'600'000;
constexpr std::size_t kMostKills = 12;
constexpr std::uint32_t kMostLeftOut = 10'000;
constexpr std::int64_t kHungDeadlineMs = 300, kDeadlineMs = 10'000;

void need_sync(Lab& lab) {
  if (!lab.adapter()->roles().sync) throw not_applicable("the adapter has no sync role");
}

/// What one undisturbed full sync of the service gives, and how many requests it took.
struct Undisturbed {
  ReplicaRows rows;
  OfferedRows offered;             ///< on the way there
  std::set<std::string> searched;  ///< texts
  std::size_t requests = 0, commits = 0;
};

Undisturbed undisturbed(Lab& lab) {
  need_sync(lab);
  lab.faults().clear();
  SyncTrial trial(lab);
  trial.settle();
  Undisturbed out{trial.rows(), trial.offered(), trial.searched(), lab.faults().count(), trial.commits()};
  if (out.rows.empty()) throw not_checked("the fake service has nothing to sync; let `prepare` put something there");
  return out;
}

void expect_rows(const ReplicaRows& expected, const ReplicaRows& actual, const std::string& when) {
  if (const auto what = difference(expected, actual); !what.empty())
    throw CheckFailed(fmt::format("{}: {}.", when, what));
}

/// The first, a middle and the last of `count` requests.
std::set<std::size_t> positions(std::size_t count) {
  return count == 0 ? std::set<std::size_t>{} : std::set<std::size_t>{1, (count + 1) / 2, count};
}

bool is_right(Fault fault, krux_status status) {
  if (fault == Fault::kTokenRefused) return status == KRUX_AUTH;
  if (fault == Fault::kRateLimited) return status == KRUX_RATE_LIMITED;
  for (const auto wrong : {KRUX_AUTH, KRUX_INTERNAL, KRUX_CURSOR_EXPIRED, KRUX_UNSUPPORTED, KRUX_CONFLICT}) {
    if (status == wrong) return false;
  }
  return true;
}

void judge_end(Fault fault, const PassEnd& end, const std::string& when) {
  if (end.how == PassEnd::How::kFailed && !is_right(fault, end.failure.status))
    throw CheckFailed(fmt::format("{}, it ended with {}", when, in_words(end.failure)));
  if (fault == Fault::kTokenRefused && end.how == PassEnd::How::kDone)
    throw CheckFailed(fmt::format("{}, the pass ended as if nothing had been.", when));
}

/// Until the replica holds `expected` again.
void recover(Lab& lab, SyncTrial& trial, const ReplicaRows& expected, const std::string& when) {
  lab.faults().clear();
  std::string what;
  for (int i = 0; i < kPassesForChanges; ++i) {
    trial.settle();
    what = difference(expected, trial.rows());
    if (what.empty()) return;
    lab.clock().advance(lab.definition().sync_interval_ms);
  }
  throw CheckFailed(fmt::format("{}, and the sync went on undisturbed afterwards: {}.", when, what),
                    "What was not synced must be synced by a later pass: let no cursor pass by it.");
}

void full_sync_with(Lab& lab, Fault fault, const Undisturbed& good) {
  for (const auto at : positions(good.requests)) {
    const auto when = fmt::format("When in request {} of a first sync {}", at, in_words(fault));
    SyncTrial trial(lab);
    lab.faults().arm({fault, at, fault == Fault::kTokenRefused ? std::size_t{0} : 1});
    judge_end(fault, trial.pass(), when);
    const auto rows = trial.rows();
    for (const auto& [key, content] : rows) {
      const auto real = good.offered.find(key);
      if (real == good.offered.end() || !real->second.contains(content))
        throw CheckFailed(fmt::format("{}, a row got into the replica that the service does not have: {}.", when, key),
                          "Check the types of everything in an answer before anything of it is put.");
    }
    recover(lab, trial, good.rows, when);
  }
}

/// An adapter may keep notes of its own in a row: what an undisturbed sync puts there on its way counts as what it ends
/// with.
ReplicaRows known_rows(ReplicaRows rows, const Undisturbed& good) {
  for (auto& [key, content] : rows) {
    const auto end = good.rows.find(key);
    const auto offered = good.offered.find(key);
    if (end == good.rows.end() || offered == good.offered.end()) continue;
    if (offered->second.contains(content)) content = end->second;
  }
  return rows;
}

/// On a filled replica, while nothing changes at the service: not one row may change.
void later_sync_with(Lab& lab, Fault fault, const Undisturbed& good, SyncTrial& trial, std::size_t requests) {
  for (const auto at : positions(requests)) {
    const auto when = fmt::format("When in request {} of a later sync {}", at, in_words(fault));
    lab.clock().advance(lab.definition().sync_interval_ms);
    lab.faults().arm({fault, at, fault == Fault::kTokenRefused ? std::size_t{0} : 1});
    const auto end = trial.pass();
    if (lab.faults().count() < at) continue;  // fewer requests than the first later pass had
    judge_end(fault, end, when);
    if (const auto what = difference(good.rows, known_rows(trial.rows(), good)); !what.empty())
      throw CheckFailed(fmt::format("{}, the replica changed although the service had not: {}.", when, what),
                        "Sweep only after every page of a pass was read and understood.");
    recover(lab, trial, good.rows, when);
  }
}

void under_faults(Lab& lab, std::initializer_list<Fault> faults) {
  auto good = undisturbed(lab);
  SyncTrial trial(lab);
  trial.settle();
  lab.clock().advance(lab.definition().sync_interval_ms);
  lab.faults().clear();
  trial.settle();
  const auto requests = lab.faults().count();
  for (const auto& [key, contents] : trial.offered()) good.offered[key].insert(contents.begin(), contents.end());
  for (const auto fault : faults) {
    full_sync_with(lab, fault, good);
    later_sync_with(lab, fault, good, trial, requests);
  }
}

/// Steps of a first sync until request number `at` has hung, to its deadline or until it is cancelled there.
void hang_in(Lab& lab, std::size_t at, std::int64_t deadline_ms, bool cancelled) {
  const auto adapter = lab.adapter();
  const auto store = lab.fresh_replica();
  lab.faults().arm({Fault::kHang, at, 0});
  for (bool more = true; more && lab.faults().count() < at;) {
    const std::shared_ptr<SyncSession> session = store->begin_session();
    CallOptions options;
    options.deadline_ms = deadline_ms;
    options.made = [&lab, cancelled](const CallContextPtr& call) {
      if (cancelled) lab.faults().on_hang([call] { call->cancel(); });
    };
    const auto answer = lab.call<SyncStep>(
        "the sync", options, [adapter, session](const auto& call) { return adapter->ask<"full_sync">(call, session); });
    session->close();
    more = answer.value() && answer.value()->next != SyncStep::Next::kDone;
  }
}

}  // namespace

void check_sync_full(Lab& lab, const std::string&) {
  const auto good = undisturbed(lab);
  lab.note(fmt::format("{} rows in {} requests and {} commits.", good.rows.size(), good.requests, good.commits));
}

void check_sync_repeat(Lab& lab, const std::string&) {
  const auto first = undisturbed(lab), second = undisturbed(lab);
  expect_rows(first.rows, second.rows, "The second first sync of an unchanged service");
}

void check_sync_idle(Lab& lab, const std::string&) {
  const auto good = undisturbed(lab);
  SyncTrial trial(lab);
  trial.settle();
  for (int i = 0; i < 3; ++i) {
    lab.clock().advance(lab.definition().sync_interval_ms);
    trial.settle();
    expect_rows(good.rows, trial.rows(), fmt::format("After {} later passes over an unchanged service", i + 1));
  }
}

namespace {

/// How far the host's clock is ahead of the service's in the second round of sync.changes.
constexpr std::int64_t kAheadMs = 600'000;

/// Makes each of `changes`; `made` follows with what was expected of it.
template <class Made>
void make_changes(Lab& lab, Made&& made) {
  auto values = lab.values();
  values["n"] = lab.unique();
  for (const auto& change : lab.bench().kit().changes) {
    add_members(values, "before", lab.service().ask(change, values));
    made(change);
  }
}

/// How many passes the slowest of the changes took. `from` those the clock is moved on before each.
int passes_for_changes(Lab& lab, SyncTrial& trial, int from, const std::string& clock) {
  int most = 0;
  make_changes(lab, [&](const BundleRequest& change) {
    const auto expected = undisturbed(lab).rows;
    std::string what = "x";
    int passes = 0;
    for (; passes < 2 * kPassesForChanges && !what.empty(); ++passes) {
      if (passes >= from)
        lab.clock().advance(passes < kPassesForChanges ? lab.definition().sync_interval_ms : kLongWhileMs);
      trial.settle();
      what = difference(expected, trial.rows());
    }
    most = std::max(most, passes);
    if (!what.empty())
      throw CheckFailed(fmt::format("{} later passes after {} {}{}, against a first sync: {}.", passes, change.method,
                                    change.path, clock, what),
                        clock.empty()
                            ? ""
                            : "Ask since the service's own time (its header Date, or what its records say), and "
                              "not since the host's.");
  });
  return most;
}

}  // namespace

void check_sync_changes(Lab& lab, const std::string&) {
  need_sync(lab);
  const auto& changes = lab.bench().kit().changes;
  if (changes.empty()) throw not_checked("conformance.changes is missing: nothing says how to change the service");
  SyncTrial trial(lab);
  trial.settle();
  // First without moving it: the clocks of kit and service are the same then.
  const auto most = passes_for_changes(lab, trial, 1, "");
  lab.clock().advance(kAheadMs);
  SyncTrial ahead(lab);
  ahead.settle();
  passes_for_changes(lab, ahead, 1, ", the host's clock being ten minutes ahead");
  lab.note(fmt::format("{} changes, each there after at most {} passes.", changes.size(), most));
}

void check_sync_resume(Lab& lab, const std::string&) {
  const auto good = undisturbed(lab);
  std::set<std::size_t> kills;
  for (std::size_t i = 1; i <= std::min(good.commits, kMostKills); ++i) {
    kills.insert(good.commits <= kMostKills ? i : i * good.commits / kMostKills);
  }
  for (const auto at : kills) {
    SyncTrial trial(lab);
    trial.pass(at);
    trial.restart();
    recover(lab, trial, good.rows, fmt::format("When it was killed behind commit {} of {}", at, good.commits));
  }
  // And killed behind every single one, so that it must live on what it has stored alone.
  SyncTrial trial(lab);
  for (std::size_t i = 0; i < 4 * good.commits + 20; ++i) {
    if (trial.pass(1).how != PassEnd::How::kKilled) break;
    trial.restart();
  }
  recover(lab, trial, good.rows, "When it was killed behind every commit");
}

void check_sync_connection(Lab& lab, const std::string&) {
  under_faults(lab, {Fault::kAnswerLost, Fault::kNotSent, Fault::kCutOff, Fault::kSlow});
}

void check_sync_server(Lab& lab, const std::string&) {
  under_faults(lab, {Fault::kServerError, Fault::kBadGateway, Fault::kUnavailable});
}

void check_sync_limited(Lab& lab, const std::string&) {
  under_faults(lab, {Fault::kRateLimited});
}

void check_sync_refused(Lab& lab, const std::string&) {
  under_faults(lab, {Fault::kTokenRefused});
}

void check_sync_garbage(Lab& lab, const std::string&) {
  under_faults(
      lab, {Fault::kTruncated, Fault::kNotJson, Fault::kWrongTypes, Fault::kWrongInside, Fault::kEmpty, Fault::kHuge});
}

void check_sync_cursors(Lab& lab, const std::string&) {
  need_sync(lab);
  const auto& expire = lab.bench().kit().expire_cursors;
  if (!expire) throw not_checked("conformance.expire_cursors is missing: nothing says how to make a cursor expire");
  undisturbed(lab);
  SyncTrial trial(lab);
  trial.settle();
  // Of the last it can hear no more: where that deletes what it has, this shows whether it sweeps.
  std::size_t made = 0;
  make_changes(lab, [&](const BundleRequest&) {
    if (++made == lab.bench().kit().changes.size()) return;
    lab.clock().advance(lab.definition().sync_interval_ms);
    trial.settle();
  });
  lab.service().ask(*expire, lab.values());
  const auto good = undisturbed(lab);
  lab.clock().advance(lab.definition().sync_interval_ms);
  const auto end = trial.pass();
  if (end.how == PassEnd::How::kFailed) throw CheckFailed(fmt::format("The pass ended with {}", in_words(end.failure)));
  recover(lab, trial, good.rows, "When the service no longer knew the cursor");
  lab.note(end.cursor_expired ? "It said that its cursor has expired." : "It went on by itself.");
}

namespace {

/// Passes until one is done. What the replica cannot take may be left out. Throws CheckFailed.
void get_through(Lab& lab, SyncTrial& trial, const std::string& when) {
  std::string last;
  for (int i = 0; i < kPassesForChanges; ++i) {
    const auto end = trial.pass();
    if (end.how == PassEnd::How::kDone && end.problems == 0) return;
    last = end.problems > 0 ? trial.store().problems().front().message : in_words(end.failure);
    lab.clock().advance(std::max(end.failure.retry_after_ms.value_or(0), lab.definition().sync_interval_ms));
  }
  throw CheckFailed(fmt::format("{}, no pass comes to its end any more: {}", when, last),
                    "Put the record all the same: the host leaves out what the replica cannot take. Read half of a "
                    "surrogate pair as U+FFFD.");
}

}  // namespace

void check_sync_hostile(Lab& lab, const std::string&) {
  const auto good = undisturbed(lab);
  std::string text;
  for (const auto hostile : kHostileTexts) {
    const auto when = fmt::format("When a text of the service has {}", in_words(hostile));
    SyncTrial trial(lab);
    lab.faults().make_hostile(good.searched, hostile);
    get_through(lab, trial, when);
    text = lab.faults().made_hostile();
    lab.faults().clear();
    if (text.empty())
      throw not_checked("the fake service has no text with a blank that a synced record is searched by");
    auto rows = trial.rows();
    const auto quoted = json_string(text);
    const auto written = quoted.substr(1, quoted.size() - 2);  // as it stands in a record
    // The text may stand in others too, as an author's name does.
    for (const auto& record : trial.store().left_out(kMostLeftOut)) rows[record.collection + "/" + record.id];
    // What hangs on such a record, as answers to a message do, may be missing with it.
    std::size_t others = 0, missing = 0;
    for (const auto& [key, content] : good.rows) {
      if (content.find(written) != std::string::npos) continue;
      ++others;
      if (!rows.contains(key)) ++missing;
    }
    if (2 * missing > others)
      throw CheckFailed(fmt::format("{}, {} of {} other rows are missing. It took the place of \"{}\".", when, missing,
                                    others, printable(text)));
  }
  lab.note(fmt::format("\"{}\" was the text.", printable(text)));
}

void check_sync_in_time(Lab& lab, const std::string&) {
  const auto good = undisturbed(lab);
  hang_in(lab, 1, kHungDeadlineMs, false);
  hang_in(lab, (good.requests + 1) / 2, kDeadlineMs, true);
}

}  // namespace krux::certify
