#include "words.hpp"

#include "workspace/failure.hpp"

namespace process {
namespace {

constexpr std::size_t kMostWords = 1000;

kruxos::ProxyError needs_shell(char c) {
  return workspace::invalid(std::string("The command has ") + c +
                            " outside of quotation marks, which only a shell understands: put the word in single "
                            "quotation marks, or say shell: true.");
}

/// Within double quotation marks a shell would still replace these.
constexpr std::string_view kInDouble = "$`", kAnywhere = "|&;<>()$`*?[]{}~#!\n";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<std::string> words() {
    while (at_ < text_.size()) character();
    end_word();
    if (words_.empty()) throw workspace::invalid("The command is empty.");
    return std::move(words_);
  }

 private:
  void character() {
    const char c = text_[at_++];
    if (c == ' ' || c == '\t') return end_word();
    in_word_ = true;
    if (c == '\'') return until('\'', "");
    if (c == '"') return until('"', kInDouble);
    if (c == '\\') return escaped();
    if (kAnywhere.find(c) != std::string_view::npos) throw needs_shell(c);
    word_ += c;
  }

  void escaped() {
    if (at_ == text_.size()) throw workspace::invalid("The command ends with a backslash.");
    word_ += text_[at_++];
  }

  void until(char mark, std::string_view refused) {
    while (at_ < text_.size() && text_[at_] != mark) {
      const char c = text_[at_++];
      if (refused.find(c) != std::string_view::npos) throw needs_shell(c);
      const bool escapes = mark == '"' && c == '\\' && at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\\');
      word_ += escapes ? text_[at_++] : c;
    }
    if (at_ == text_.size()) throw workspace::invalid(std::string("The command has a ") + mark + " without its end.");
    ++at_;
  }

  void end_word() {
    if (!in_word_) return;
    if (words_.size() == kMostWords) throw workspace::invalid("The command has more than 1,000 words.");
    words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> words_of(std::string_view command) {
  return Splitter(command).words();
}

}  // namespace process
