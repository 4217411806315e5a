#include "core/util/keyed_hash.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr std::uint64_t kMul = 0xc6a4a7935bd1e995, kSeed = 0xc70f6907;

std::uint64_t shift_mix(std::uint64_t v) {
  return v ^ (v >> 47);
}

/// x * inverse == 1
std::uint64_t inverse(std::uint64_t x) {
  std::uint64_t result = x;
  for (int i = 0; i < 6; ++i) result *= 2 - x * result;
  return result;
}

/// Texts of 16 ASCII characters that the standard library's hash, whose seed everybody knows, cannot tell apart: the
/// second half undoes what the first has done.
std::vector<std::string> colliding_keys(std::size_t count) {
  const std::uint64_t back = inverse(kMul), start = kSeed ^ (16 * kMul);
  std::vector<std::string> keys;
  for (std::uint64_t n = 0; keys.size() < count; ++n) {
    std::array<char, 16> key{};
    for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<char>('a' + ((n >> (4 * i)) & 15));
    std::uint64_t first = 0;
    std::memcpy(&first, key.data(), 8);
    const std::uint64_t after = (start ^ (shift_mix(first * kMul) * kMul)) * kMul;
    const std::uint64_t second = shift_mix((after ^ 0x1234567) * back) * back;
    std::memcpy(key.data() + 8, &second, 8);
    const bool ascii = (second & 0x8080808080808080) == 0 && std::find(key.begin() + 8, key.end(), '\0') == key.end();
    if (ascii) keys.emplace_back(key.begin(), key.end());
  }
  return keys;
}

std::string object_of(const std::vector<std::string>& keys) {
  std::string text;
  for (const auto& key : keys) text += (text.empty() ? "{" : ",") + json_string(key) + ":0";
  return text + "}";
}

template <class Set>
std::size_t longest_chain(const Set& set) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < set.bucket_count(); ++i) longest = std::max(longest, set.bucket_size(i));
  return longest;
}

double parse_ms(const std::string& text) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    parse_json(text, "the test's text");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

TEST_CASE("keys that meet in the standard library's hash do not meet in the keyed one") {
  const auto keys = colliding_keys(10'000);
  const std::unordered_set<std::string> known(keys.begin(), keys.begin() + 100);
  REQUIRE(longest_chain(known) == 100);
  const std::unordered_set<std::string, KeyedHash> table(keys.begin(), keys.end());
  REQUIRE(table.size() == keys.size());
  CHECK(longest_chain(table) < 20);
}

TEST_CASE("an object of keys that were made to collide is read as fast as any other") {
  const auto keys = colliding_keys(20'000);
  auto others = keys;
  for (std::size_t i = 0; i < others.size(); ++i) others[i][8 + i % 8] = static_cast<char>('0' + i % 10);
  const auto hostile = object_of(keys), ordinary = object_of(others);
  const auto ordinary_ms = parse_ms(ordinary), hostile_ms = parse_ms(hostile);
  INFO(ordinary_ms << " ms and " << hostile_ms << " ms");
  CHECK(hostile_ms < 4 * ordinary_ms + 5);
}

}  // namespace KRUXOS_TEST_FILE
