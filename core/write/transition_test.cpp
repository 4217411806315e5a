#include "core/write/transition.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

using namespace krux;

namespace {

using Key = std::tuple<int, int, bool, bool>;  // state, event, closed, told

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
  const auto next = parse_write_state(code_words(cells[2]).at(0));
  REQUIRE(next);
  for (const auto& name : code_words(cells[0])) {
    const auto state = parse_write_state(name);
    REQUIRE(state);
    for (const bool closed : {false, true}) {
      for (const bool told : {false, true}) {
        if ((says(cells[0], "closed") && !closed) || (says(cells[0], "open") && closed)) continue;
        if ((says(cells[0], "told") && !told) || (says(cells[0], "untold") && told)) continue;
        const WritePhase to{*next, closed || says(cells[2], "closed"), says(cells[2], "told")};
        const bool added = expected.emplace(Key{static_cast<int>(*state), *event, closed, told}, to).second;
        REQUIRE(added);
      }
    }
  }
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
  for (int s = 0; s < kWriteStates; ++s) {
    for (int e = 0; e < kWriteEvents; ++e) {
      for (const bool closed : {false, true}) {
        for (const bool told : {false, true}) {
          const WritePhase from{static_cast<WriteState>(s), closed, told};
          const auto next = transition(from, static_cast<WriteEvent>(e));
          INFO(to_string(from.state) << " closed=" << closed << " told=" << told << " + "
                                     << to_string(static_cast<WriteEvent>(e)));
          const auto documented_next = expected.find({s, e, closed, told});
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
    }
  }
  CHECK(allowed == static_cast<int>(expected.size()));
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
