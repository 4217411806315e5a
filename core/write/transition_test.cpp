#include "core/write/transition.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

using Key = std::tuple<int, int, bool, bool, bool, bool, bool>;  // state, event, and the flags as in WritePhase

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

std::vector<std::string> code_words(const std::string& cell) {
  std::vector<std::string> words;
  for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
    const auto end = cell.find('`', at + 1);
    words.push_back(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

bool says(const std::string& cell, const std::string& word) {
  std::string plain = " ";
  for (const char c : cell) plain += (std::isalpha(static_cast<unsigned char>(c)) || c == '_') ? c : ' ';
  return (plain + " ").find(" " + word + " ") != std::string::npos;
}

std::optional<int> event_of(const std::string& name) {
  for (int e = 0; e < kWriteEvents; ++e) {
    if (name == to_string(static_cast<WriteEvent>(e))) return e;
  }
  return std::nullopt;
}

/// Adds what one row of the document's table says.
void add_row(const std::vector<std::string>& cells, std::map<Key, WritePhase>& expected) {
  const auto event = event_of(code_words(cells[1]).at(0));
  INFO(cells[1]);
  REQUIRE(event);
  // The state stays as it is, with `escalated`, unless the third column names one.
  const auto named = code_words(cells[2]);
  const auto next = named.empty() ? std::nullopt : parse_write_state(named.at(0));
  REQUIRE((next || says(cells[2], "same")));
  for (const auto& name : code_words(cells[0])) {
    const auto state = parse_write_state(name);
    REQUIRE(state);
    for (const bool irrevocable : {false, true}) {
      for (const bool escalated : {false, true}) {
        if ((says(cells[0], "irrevocable") && !irrevocable) || (says(cells[0], "revocable") && irrevocable)) continue;
        if ((says(cells[0], "escalated") && !escalated) || (says(cells[0], "unescalated") && escalated)) continue;
        for (const auto& [first, wanted] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
          const bool held_as_copy = says(cells[0], "held_as_copy");
          if ((says(cells[0], "reconcile_first") && !first) || (says(cells[0], "ready") && first)) continue;
          if ((says(cells[0], "release_wanted") && !wanted) || (wanted && !held_as_copy)) continue;
          const auto then = next.value_or(*state);
          const bool keeps = first && !says(cells[2], "ready") && !has_ended(then);
          const WritePhase to{then,
                              irrevocable || says(cells[2], "irrevocable"),
                              says(cells[2], "escalated") || (says(cells[2], "same") && escalated),
                              says(cells[2], "held_as_copy"),
                              keeps || says(cells[2], "reconcile_first"),
                              (wanted && keeps && !says(cells[2], "anew")) || says(cells[2], "release_wanted")};
          const bool added =
              expected
                  .emplace(Key{static_cast<int>(*state), *event, irrevocable, escalated, held_as_copy, first, wanted},
                           to)
                  .second;
          REQUIRE(added);
        }
      }
    }
  }
}

/// Each state with each set of flags; what has ended is not copied, and a release is wanted of what is to be looked
/// for.
std::vector<WritePhase> all_phases() {
  std::vector<WritePhase> all;
  for (int s = 0; s < kWriteStates; ++s) {
    for (int flags = 0; flags < 32; ++flags) {
      const WritePhase phase{static_cast<WriteState>(s), (flags & 1) != 0, (flags & 2) != 0,
                             (flags & 4) != 0,           (flags & 8) != 0, (flags & 16) != 0};
      if (phase.held_as_copy && has_ended(phase.state)) continue;
      if (!phase.release_wanted || (phase.held_as_copy && phase.reconcile_first)) all.push_back(phase);
    }
  }
  return all;
}

std::map<Key, WritePhase> documented() {
  std::ifstream file(KRUXOS_SOURCE_DIR "/docs/write-path.md");
  REQUIRE(file);
  std::map<Key, WritePhase> expected;
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| state | event |", 0) == 0) in_table = true;
    if (line.empty()) in_table = false;
    if (in_table && line.find('`') != std::string::npos) add_row(cells_of(line), expected);
  }
  return expected;
}

}  // namespace

TEST_CASE("every pair of state and event does what docs/write-path.md says") {
  const auto expected = documented();
  REQUIRE(expected.size() > 60);
  int allowed = 0;
  for (const auto& from : all_phases()) {
    for (int e = 0; e < kWriteEvents; ++e) {
      const auto next = transition(from, static_cast<WriteEvent>(e));
      INFO(to_string(from.state) << " irrevocable=" << from.irrevocable << " escalated=" << from.escalated
                                 << " held_as_copy=" << from.held_as_copy << " reconcile_first=" << from.reconcile_first
                                 << " release_wanted=" << from.release_wanted << " + "
                                 << to_string(static_cast<WriteEvent>(e)));
      const auto documented_next = expected.find({static_cast<int>(from.state), e, from.irrevocable, from.escalated,
                                                  from.held_as_copy, from.reconcile_first, from.release_wanted});
      if (documented_next == expected.end()) {
        REQUIRE(std::holds_alternative<Refusal>(next));
        const auto& sentence = std::get<Refusal>(next).sentence;
        CHECK(sentence.size() > 30);
        CHECK(sentence.back() == '.');
      } else {
        REQUIRE(std::holds_alternative<WritePhase>(next));
        CHECK(std::get<WritePhase>(next) == documented_next->second);
        ++allowed;
      }
    }
  }
  CHECK(allowed == static_cast<int>(expected.size()));
}

TEST_CASE("what is held as a copy is neither claimed nor approved nor cancelled nor edited") {
  for (const auto& from : all_phases()) {
    if (!from.held_as_copy) continue;
    for (const auto event : {WriteEvent::kClaim, WriteEvent::kAccept, WriteEvent::kReject, WriteEvent::kCancel,
                             WriteEvent::kEdit, WriteEvent::kOperatorResend, WriteEvent::kEffectFound}) {
      CHECK(std::holds_alternative<Refusal>(transition(from, event)));
    }
  }
}

TEST_CASE("what has ended stays as it is, but for an undo") {
  for (int s = 0; s < kWriteStates; ++s) {
    const auto state = static_cast<WriteState>(s);
    if (!has_ended(state)) continue;
    for (int e = 0; e < kWriteEvents; ++e) {
      const auto event = static_cast<WriteEvent>(e);
      const bool undo = state == WriteState::kCompleted && event == WriteEvent::kRolledBack;
      CHECK(std::holds_alternative<WritePhase>(transition({state, false, false}, event)) == undo);
    }
  }
}

TEST_CASE("what may have happened can never be cancelled") {
  for (int s = 0; s < kWriteStates; ++s) {
    CHECK(std::holds_alternative<Refusal>(transition({static_cast<WriteState>(s), true, false}, WriteEvent::kCancel)));
  }
  CHECK(std::holds_alternative<Refusal>(transition({WriteState::kUnknown, false, true}, WriteEvent::kCancel)));
  CHECK(std::holds_alternative<Refusal>(transition({WriteState::kExecuting, false, false}, WriteEvent::kCancel)));
}

TEST_CASE("states have names that are read back") {
  for (int s = 0; s < kWriteStates; ++s) {
    CHECK(parse_write_state(to_string(static_cast<WriteState>(s))) == static_cast<WriteState>(s));
  }
  CHECK_FALSE(parse_write_state("sent"));
  CHECK_FALSE(parse_write_state(""));
}

TEST_CASE("a content hash differs wherever the content does") {
  const AccountRef account{"notes", "N1", 1};
  const auto hash = content_hash(account, "notes.add", R"({"text":"a"})");
  CHECK(hash.size() == 64);
  CHECK(hash == content_hash(account, "notes.add", R"({"text":"a"})"));
  CHECK(hash != content_hash({"notes", "N1", 2}, "notes.add", R"({"text":"a"})"));
  CHECK(hash != content_hash({"notes", "N2", 1}, "notes.add", R"({"text":"a"})"));
  CHECK(hash != content_hash({"other", "N1", 1}, "notes.add", R"({"text":"a"})"));
  CHECK(hash != content_hash(account, "notes.move", R"({"text":"a"})"));
  CHECK(hash != content_hash(account, "notes.add", R"({"text":"b"})"));
  CHECK(content_hash({"a\",\"b", "c", 1}, "o", "{}") != content_hash({"a", "b\",\"c", 1}, "o", "{}"));
}

}  // namespace KRUXOS_TEST_FILE
