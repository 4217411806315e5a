#include "host/plugins/elf_inspect.hpp"

#include <elf.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/util/text.hpp"
#include "host/plugins/entry_check.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string plugin(const std::string& name) {
  return test::read_file(std::string(KRUXOS_TEST_PLUGINS) + "/" + name + ".so");
}

/// In memory of exactly its size, so that a sanitizer sees each byte read beyond it.
ElfReport inspect_exactly(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return inspect_elf({exact.data(), exact.size()});
}

}  // namespace

TEST_CASE("An adapter's entry is found with its size, and nothing else is exported") {
  const auto report = inspect_exactly(plugin("mock_adapter"));
  CHECK(report.problem.empty());
  REQUIRE(report.entries.size() == 1);
  CHECK(report.entries[0].name == kEntrySymbol);
  CHECK(report.entries[0].is_object);
#if defined(__clang__) && defined(__SANITIZE_ADDRESS__)
  CHECK(report.entries[0].size > sizeof(krux_plugin_entry));  // with the guard that clang lays behind it
#else
  CHECK(report.entries[0].size == sizeof(krux_plugin_entry));
#endif
  CHECK(report.other_count == 0);
}

TEST_CASE("Other majors, functions and libraries without an entry are told apart") {
  const auto other = inspect_exactly(plugin("wrong_major"));
  REQUIRE(other.entries.size() == 1);
  CHECK(other.entries[0].name == "krux_plugin_v2");
  const auto function = inspect_exactly(plugin("function_entry"));
  REQUIRE(function.entries.size() == 1);
  CHECK_FALSE(function.entries[0].is_object);
  const auto none = inspect_exactly(plugin("no_entry"));
  CHECK(none.problem.empty());
  CHECK(none.entries.empty());
}

TEST_CASE("The system's own libraries are read as well") {
  for (const auto* file : {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/aarch64-linux-gnu/libstdc++.so.6"}) {
    const auto bytes = test::read_file(file);
    if (bytes.empty()) continue;
    const auto report = inspect_exactly(bytes);
    CHECK(report.problem.empty());
    CHECK(report.entries.empty());
    CHECK(report.other_count > 2000);
  }
}

TEST_CASE("What is no shared library for this machine is refused with the reason") {
  CHECK(inspect_exactly("").problem == "It is not an ELF file.");
  CHECK(inspect_exactly("#!/bin/sh\n").problem == "It is not an ELF file.");
  CHECK(inspect_exactly(ELFMAG).problem == "It is truncated or damaged.");
  CHECK(inspect_exactly(test::read_file("/bin/sh")).problem.find("program") != std::string::npos);

  auto bytes = plugin("mock_adapter");
  const auto changed = [&](std::size_t offset, char value) {
    auto copy = bytes;
    copy[offset] = value;
    return inspect_exactly(copy).problem;
  };
  CHECK(changed(EI_CLASS, ELFCLASS32).find("64-bit") != std::string::npos);
  CHECK(changed(EI_DATA, ELFDATA2MSB).find("64-bit") != std::string::npos);
  CHECK(changed(offsetof(Elf64_Ehdr, e_machine), EM_386).find("another processor") != std::string::npos);
  CHECK(changed(offsetof(Elf64_Ehdr, e_type), ET_REL) == "It is not a shared library.");
}

TEST_CASE("A library with more segments than one has is refused before its symbols are looked for in them") {
  auto bytes = plugin("mock_adapter");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  Elf64_Phdr unused{};
  unused.p_type = PT_NULL;
  const std::string table = bytes.substr(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  header.e_phoff = bytes.size();
  bytes += table;
  while (header.e_phnum < 64) {
    bytes.append(reinterpret_cast<const char*>(&unused), sizeof(unused));
    ++header.e_phnum;
  }
  std::memcpy(bytes.data(), &header, sizeof(header));
  CHECK(inspect_exactly(bytes).problem.empty());
  bytes.append(reinterpret_cast<const char*>(&unused), sizeof(unused));
  ++header.e_phnum;
  std::memcpy(bytes.data(), &header, sizeof(header));
  CHECK(inspect_exactly(bytes).problem == "It has 65 segments, at most 64 are taken.");
}

TEST_CASE("A library that asks for an executable stack is refused") {
  auto bytes = plugin("mock_adapter");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bool found = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    char* at = bytes.data() + header.e_phoff + i * sizeof(segment);
    std::memcpy(&segment, at, sizeof(segment));
    if (segment.p_type != PT_GNU_STACK) continue;
    found = true;
    segment.p_flags |= PF_X;
    std::memcpy(at, &segment, sizeof(segment));
  }
  REQUIRE(found);
  CHECK(inspect_exactly(bytes).problem.find("executable stack") != std::string::npos);
}

TEST_CASE("A truncated library is refused wherever it was cut") {
  const auto bytes = plugin("no_entry");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::size_t loaded = 0;  // what follows (debug information, the section table) the loader ignores: it may be missing
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) loaded = std::max<std::size_t>(loaded, segment.p_offset + segment.p_filesz);
  }
  REQUIRE(loaded > sizeof(header));
  REQUIRE(loaded <= bytes.size());
  std::vector<std::size_t> taken;
  for (std::size_t cut = 0; cut < loaded; cut += 97) {
    if (inspect_exactly(bytes.substr(0, cut)).problem.empty()) taken.push_back(cut);
  }
  CHECK(taken == std::vector<std::size_t>{});
  CHECK_FALSE(inspect_exactly(bytes.substr(0, loaded - 1)).problem.empty());
}

TEST_CASE("Any bytes are answered with a report") {
  const auto original = plugin("bad_magic");
  std::mt19937 random(20261121);
  const auto number = [&](std::size_t below) { return static_cast<std::size_t>(random()) % below; };
  int refused = 0, found = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = original;
    const auto changes = 1 + number(8);
    for (std::size_t i = 0; i < changes; ++i) {
      // Headers and the dynamic tables stand near the front: half of the changes go there.
      const auto at = number(number(2) == 0 ? std::min<std::size_t>(4096, bytes.size()) : bytes.size());
      const char values[] = {'\0', '\xff', '\x7f', '\x80', static_cast<char>(random())};
      bytes[at] = values[number(5)];
    }
    if (number(10) == 0) bytes.resize(number(bytes.size()));
    const auto report = inspect_exactly(bytes);
    report.problem.empty() ? ++found : ++refused;
    for (const auto& entry : report.entries) CHECK(is_valid_utf8(entry.name));
  }
  CHECK(refused > 1000);
  CHECK(found > 1000);
}

}  // namespace KRUXOS_TEST_FILE
