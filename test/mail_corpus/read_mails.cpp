// Reads the mails of a folder as the Gmail adapter does, and writes what they say as JSON, one mail a line.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <kruxos/kit/json.hpp>
#include <sstream>
#include <vector>

#include "mail/html_entities.hpp"
#include "mail/read_mail.hpp"
#include "mail/utf8.hpp"

namespace {

using gmail::MailAddress;
using kruxos::kit::ArrayWriter;
using kruxos::kit::ObjectWriter;

std::string addresses(const std::vector<MailAddress>& list) {
  ArrayWriter out;
  for (const auto& one : list) out.raw(ObjectWriter().text("name", one.name).text("address", one.address).done());
  return out.done();
}

std::string attachments(const std::vector<gmail::MailAttachment>& list) {
  ArrayWriter out;
  for (const auto& one : list) {
    out.raw(ObjectWriter().text("filename", one.filename).text("type", one.mime_type).integer("size", one.size).done());
  }
  return out.done();
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  const auto raw = bytes.str();
  const auto content = gmail::read_message(raw);
  ObjectWriter out;
  out.text("name", path.filename().string()).text("subject", content.subject);
  out.raw("from", addresses(content.from)).raw("to", addresses(content.to));
  out.integer("date_ms", content.date_ms.value_or(-1)).text("message_id", content.message_id);
  out.text("text", gmail::with_nuls_shown(content.text_plain)).text("hidden", content.hidden_text);
  return out.raw("attachments", attachments(content.attachments)).done();
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--references") {
    std::ifstream in(arguments[2]);
    for (std::string line; std::getline(in, line);) {
      std::cout << ObjectWriter().text("text", gmail::without_references(line)).done() << '\n';
    }
    return 0;
  }
  if (count != 2) {
    std::cerr << "Usage: read_mails FOLDER, or read_mails --references FILE\n";
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) std::cout << read(path) << '\n';
  return 0;
}
