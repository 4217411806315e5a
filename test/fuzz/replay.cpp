// fuzz_NAME MUTATIONS FOLDER_OR_FILE...: runs a target on a corpus and on changes of it, the same ones each time. An
// input that ends the process is left behind as fuzz_NAME.input, in the folder that the test runs in.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz.hpp"

#include <unistd.h>

namespace {

using Corpus = std::vector<std::string>;

constexpr std::size_t kMostChangedBytes = 16 * 1024;

std::string current;
std::string left_behind;

/// In a signal's handler: only what POSIX allows there.
void leave_behind(int signal) {
  std::signal(signal, SIG_DFL);
  if (FILE* file = std::fopen(left_behind.c_str(), "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::raise(signal);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void add(Corpus& corpus, const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) {
    corpus.push_back(bytes_of(path));
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) corpus.push_back(bytes_of(file));
}

class Mutator {
 public:
  explicit Mutator(const Corpus& corpus) : corpus_(corpus) {}

  std::string next() {
    auto text = any().substr(0, kMostChangedBytes);
    for (auto changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const std::string& any() { return corpus_[below(corpus_.size())]; }

  void change(std::string& text) {
    const auto at = below(text.size() + 1), count = 1 + below(16);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1U << below(8)));
        break;
      case 2:
        text.insert(at, count, static_cast<char>(random_()));
        break;
      case 3:
        text.erase(at, count);
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), count * 4));
        break;
      case 5: {
        const auto& other = any();
        text = text.substr(0, at) + other.substr(below(other.size() + 1), kMostChangedBytes);
        break;
      }
      default:
        text.resize(at);
    }
  }

  const Corpus& corpus_;
  std::mt19937 random_{20'260'101};
};

void run(std::string text) {
  current = std::move(text);
  // Of the exact size, so that a sanitizer sees the first byte too many.
  const std::vector<std::uint8_t> bytes(current.begin(), current.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MUTATIONS FOLDER_OR_FILE...\n", argv[0]);
    return 2;
  }
  left_behind = std::filesystem::path(argv[0]).filename().string() + ".input";
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, leave_behind);
  Corpus corpus;
  for (int i = 2; i < argc; ++i) add(corpus, argv[i]);
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: the corpus is empty\n");
    return 2;
  }
  for (const auto& text : corpus) run(text);
  Mutator mutator(corpus);
  const long mutations = std::atol(argv[1]);
  for (long i = 0; i < mutations; ++i) run(mutator.next());
  std::printf("%zu files and %ld changes of them\n", corpus.size(), mutations);
}
