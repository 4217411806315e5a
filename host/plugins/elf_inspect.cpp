#include "host/plugins/elf_inspect.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::string_view kEntryPrefix = "krux_plugin_v";
constexpr std::size_t kOthersShown = 16;
constexpr std::size_t kLongestName = 4096;
constexpr std::uint16_t kMostSegments = 64;  ///< each symbol is looked for in all of them; libraries have about ten

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "inspect_elf knows x86-64 and AArch64"
#endif

struct BadElf : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    read_header();
    read_segments();
    read_dynamic();
  }

  void list_exports(ElfReport& report) const {
    const std::uint64_t count = symbol_count();
    for (std::uint64_t i = 1; i < count; ++i) {
      const auto symbol = at_address<Elf64_Sym>(symbols_, i);
      const auto binding = ELF64_ST_BIND(symbol.st_info);
      const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
      const bool exported = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
                            (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
                            (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
      if (!exported) continue;
      auto name = text(symbol.st_name);
      if (name.starts_with(kEntryPrefix)) {
        report.entries.push_back({std::move(name), symbol.st_size, ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT});
      } else if (report.other_count++ < kOthersShown) {
        report.others.push_back(std::move(name));
      }
    }
  }

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) throw BadElf("It is truncated or damaged.");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  /// Where in the file the loader finds what it maps at `address`.
  std::uint64_t offset_of(std::uint64_t address) const {
    for (const auto& segment : loads_) {
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    throw BadElf("Its symbol table lies outside of it.");
  }

  template <class T>
  T at_address(std::uint64_t address, std::uint64_t index = 0) const {
    const auto offset = offset_of(address);
    if (index > bytes_.size() / sizeof(T)) throw BadElf("Its symbol table is longer than the file.");
    return at<T>(offset + index * sizeof(T));
  }

  std::string text(std::uint64_t index) const {
    if (index >= strings_size_) throw BadElf("A symbol's name lies outside of its string table.");
    const auto begin = offset_of(strings_) + index;
    if (begin >= bytes_.size()) throw BadElf("It is truncated or damaged.");
    const auto longest = std::min<std::uint64_t>({kLongestName, strings_size_ - index, bytes_.size() - begin});
    const auto name = bytes_.substr(begin, longest);
    const auto end = name.find('\0');
    if (end == std::string_view::npos) throw BadElf("A symbol's name has no end.");
    return printable(name.substr(0, end));
  }

  void read_header() {
    if (!bytes_.starts_with(ELFMAG)) throw BadElf("It is not an ELF file.");
    header_ = at<Elf64_Ehdr>(0);
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      throw BadElf("It is not built for a 64-bit little-endian machine.");
    }
    if (header_.e_machine != kMachine) {
      throw BadElf(
          fmt::format("It is built for another processor (machine {}, this one is {}).", header_.e_machine, kMachine));
    }
    if (header_.e_type != ET_DYN) throw BadElf("It is not a shared library.");
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) throw BadElf("It is truncated or damaged.");
    if (header_.e_phnum > kMostSegments) {
      throw BadElf(fmt::format("It has {} segments, at most {} are taken.", header_.e_phnum, kMostSegments));
    }
  }

  void read_segments() {
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_INTERP) throw BadElf("It is a program, not a shared library.");
      if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X)) {
        throw BadElf("It asks for an executable stack; link it with -z noexecstack.");
      }
      if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
      if (segment.p_offset > bytes_.size() || segment.p_filesz > bytes_.size() - segment.p_offset) {
        throw BadElf("It is truncated or damaged.");
      }
      if (segment.p_type == PT_LOAD) loads_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
    }
    if (loads_.empty() || !dynamic_) throw BadElf("It is not a shared library.");
  }

  void read_dynamic() {
    for (std::uint64_t i = 0; i < dynamic_->p_filesz / sizeof(Elf64_Dyn); ++i) {
      const auto entry = at<Elf64_Dyn>(dynamic_->p_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SYMTAB) symbols_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRTAB) strings_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) strings_size_ = entry.d_un.d_val;
      if (entry.d_tag == DT_HASH) hash_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = entry.d_un.d_ptr;
    }
    if (symbols_ == 0 || strings_ == 0) throw BadElf("It exports nothing.");
  }

  /// The dynamic segment has no count of symbols; the hash tables, which the loader searches, imply it.
  std::uint64_t symbol_count() const {
    if (gnu_hash_ != 0) return gnu_symbol_count();
    if (hash_ != 0) return at_address<std::uint32_t>(hash_, 1);  // nbucket, nchain: one chain entry a symbol
    throw BadElf("It exports nothing.");
  }

  std::uint64_t gnu_symbol_count() const {
    // Header: nbuckets, symoffset, bloom_size, bloom_shift; then the bloom filter (64-bit words), the buckets, and a
    // chain of hashes for the symbols from symoffset on, in which a set lowest bit ends a bucket.
    const auto buckets = at_address<std::uint32_t>(gnu_hash_, 0);
    const auto first = at_address<std::uint32_t>(gnu_hash_, 1);
    const auto bloom_words = at_address<std::uint32_t>(gnu_hash_, 2);
    const auto buckets_at = 4 + std::uint64_t{bloom_words} * 2;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) {
      last = std::max<std::uint64_t>(last, at_address<std::uint32_t>(gnu_hash_, buckets_at + i));
    }
    if (last < first || last == 0) return first;
    const auto chain_at = buckets_at + buckets;
    while ((at_address<std::uint32_t>(gnu_hash_, chain_at + (last - first)) & 1) == 0) ++last;
    return last + 1;
  }

  const std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
  std::uint64_t symbols_ = 0, strings_ = 0, strings_size_ = 0, hash_ = 0, gnu_hash_ = 0;
};

}  // namespace

ElfReport inspect_elf(std::string_view bytes) {
  ElfReport report;
  try {
    Elf(bytes).list_exports(report);
  } catch (const BadElf& e) {
    report.problem = e.what();
    report.entries.clear();
  }
  return report;
}

}  // namespace krux
