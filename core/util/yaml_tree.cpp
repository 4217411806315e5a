#include "core/util/yaml_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <streambuf>

#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"
#include "core/util/file_owner.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxNodes = 100'000;
constexpr std::size_t kMaxDepth = 24;

[[noreturn]] void fail(const std::string& name, int line, int column, const std::string& message) {
  throw ConfigError(fmt::format("{}:{}:{}: {}", name, line, column, message));
}

/// Builds the tree from the parser's events, and stops at what is not accepted.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) stop(mark, "a second document (---) begins here; put everything into one document.");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(make(mark, YamlNode::Kind::kNull)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    auto node = make(mark, YamlNode::Kind::kScalar);
    refuse_tag(mark, tag);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, make(mark, YamlNode::Kind::kSequence));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, make(mark, YamlNode::Kind::kMap));
  }
  void OnMapEnd() override { close(); }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_alias(mark); }

  YamlNode take() { return std::move(root_); }

 private:
  [[noreturn]] void stop(const YAML::Mark& mark, const std::string& message) const {
    fail(name_, mark.line + 1, mark.column + 1, message);
  }
  [[noreturn]] void refuse_alias(const YAML::Mark& mark) const {
    stop(mark, "anchors (&) and aliases (*) are not accepted here; write the value out.");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") stop(mark, "tags (!) are not accepted here; leave the tag out.");
  }
  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++nodes_ > kMaxNodes) stop(mark, fmt::format("there are more than {} values; split the file.", kMaxNodes));
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YamlNode node) {
    refuse_tag(mark, tag);
    if (open_.size() >= kMaxDepth) stop(mark, fmt::format("it is nested deeper than {} levels here.", kMaxDepth));
    open_.push_back(std::move(node));
  }
  void close() {
    auto node = std::move(open_.back());
    open_.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (parent.kind == YamlNode::Kind::kMap && parent.keys.size() == parent.items.size()) {
      add_key(parent, std::move(node));
    } else {
      parent.items.push_back(std::move(node));
    }
  }
  void add_key(YamlNode& map, YamlNode key) const {
    if (key.kind != YamlNode::Kind::kScalar) fail(name_, key.line, key.column, "a key must be a name.");
    const auto same = std::find_if(map.keys.begin(), map.keys.end(), [&](const auto& k) { return k.text == key.text; });
    if (same != map.keys.end()) {
      fail(name_, key.line, key.column,
           fmt::format("the key \"{}\" stands here for the second time (first in line {}); remove one.",
                       printable(key.text), same->line));
    }
    map.keys.push_back(std::move(key));
  }

  const std::string& name_;
  YamlNode root_;
  std::vector<YamlNode> open_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

/// Reads from memory that somebody else owns.
struct ViewBuffer : std::streambuf {
  explicit ViewBuffer(std::string_view text) {
    auto* begin = const_cast<char*>(text.data());  // never written: the buffer is only read from
    setg(begin, begin, begin + text.size());
  }
};

void check_bytes(std::string_view text, const std::string& name) {
  if (text.size() > kMaxBytes)
    throw ConfigError(fmt::format("{}: it has {} bytes, at most {} are accepted.", name, text.size(), kMaxBytes));
  if (!is_valid_utf8(text)) throw ConfigError(fmt::format("{}: it is not UTF-8 text; save it as UTF-8.", name));
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f)
      throw ConfigError(
          fmt::format("{}:{}:1: there is a control character (0x{:02x}) in this line; remove it.", name, line, byte));
  }
}

}  // namespace

YamlNode parse_yaml(std::string_view text, const std::string& name) {
  check_bytes(text, name);
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  TreeBuilder builder(name);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    fail(name, e.mark.line + 1, e.mark.column + 1, fmt::format("this is not valid YAML: {}.", printable(e.msg)));
  }
  return builder.take();
}

std::string read_text_file(const std::filesystem::path& file, Writers writers) {
  const auto fail_to_read = [&file](int error) {
    throw ConfigError(fmt::format("{}: cannot be read: {}.", file.string(), std::strerror(error)));
  };
  // Non-blocking, so that a FIFO of that name does not hold the host up.
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0 && (errno == ENOENT || errno == ENOTDIR))
    throw ConfigError(fmt::format("{}: there is no such file.", file.string()));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) fail_to_read(errno);
  if (!S_ISREG(info.st_mode)) throw ConfigError(fmt::format("{}: this is not a regular file.", file.string()));
  // Of the file that was opened: another may have taken its name since.
  const auto problem = writers == Writers::kTrusted ? owner_problem(info) : std::string();
  if (!problem.empty()) throw ConfigError(fmt::format("{}: it {}.", file.string(), problem));
  std::string text(kMaxBytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const auto got = ::read(fd.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  if (have > kMaxBytes)
    throw ConfigError(
        fmt::format("{}: it is larger than {} bytes, the most that is accepted.", file.string(), kMaxBytes));
  return text;
}

}  // namespace krux
