#include "gmail_rig.hpp"

#include <stdexcept>

namespace krux::test {
namespace {

constexpr const char* kBridgeLabel = "Projects/Bridge";
constexpr const char* kMailbox = R"({
  "labels": [{"id": "Label_7", "name": "Projects/Bridge"}],
  "messages": [
    {"from": "Bob Okafor <bob@example.com>", "to": "agent@example.com", "subject": "Invoice 4711",
     "body": "Please find the invoice for October attached.", "at_ms": 1699900000000,
     "attachments": [{"filename": "invoice-4711.pdf", "type": "application/pdf", "size": 40000}]},
    {"from": "Chen Wei <chen@example.com>", "to": "agent@example.com", "subject": "Bridge: next steps",
     "body": "Shall we meet on Thursday?", "at_ms": 1699910000000, "labels": ["INBOX", "UNREAD", "Label_7"]},
    {"from": "News <news@example.net>", "to": "agent@example.com", "subject": "You have won", "body": "Click here.",
     "at_ms": 1699920000000, "labels": ["INBOX", "UNREAD", "STARRED", "CATEGORY_PROMOTIONS"]}]})";

std::shared_ptr<GmailEmulator> emulator_of(const RigOptions& options) {
  GmailEmulatorOptions service;
  service.address = kOwner;
  service.tokens.insert(service.tokens.end(), options.tokens.begin(), options.tokens.end());
  service.driven_clock = options.driven;
  service.start_ms = kStartMs;
  service.arguments = options.emulator;
  return std::make_shared<GmailEmulator>(service);
}

Served served_by(const std::shared_ptr<GmailEmulator>& emulator) {
  const std::string origin = emulator->origin();
  Served served;
  served.name = "gmail";
  served.emulator = emulator;
  served.adapter = KRUXOS_GMAIL_ADAPTER;
  served.definition = KRUXOS_GMAIL_DEFINITION;
  served.contract_test = KRUXOS_GMAIL_SPEC_TEST;
  served.settings = "    api_base_url: " + emulator->api_base_url() + "\n    oauth: {authorize_url: \"" + origin +
                    "/o/oauth2/v2/auth\", token_url: \"" + origin + "/token\", revoke_url: \"" + origin +
                    "/revoke\"}\n";
  served.client_id = "krux-test.apps.googleusercontent.com";
  served.client_secret = "GOCSPX-krux-test";
  return served;
}

// Sorted, by the names that agents see.
std::string labels_in(const rapidjson::Value& message, const char* pointer) {
  std::set<std::string> sorted;
  if (const auto* list = find_at(message, pointer)) {
    for (const auto& label : list->GetArray()) {
      const std::string text = label.GetString();
      sorted.insert(text == "Label_7" ? kBridgeLabel : text);
    }
  }
  std::string all;
  for (const auto& label : sorted) all += (all.empty() ? "" : " ") + label;
  return all;
}

std::string line_of(const rapidjson::Value& message, const char* labels) {
  return text_at(message, "/id") + " " + text_at(message, "/subject") + " " + labels_in(message, labels);
}

}  // namespace

GmailRig::GmailRig(const RigOptions& options) : GmailRig(options, emulator_of(options)) {}

GmailRig::GmailRig(const RigOptions& options, const std::shared_ptr<GmailEmulator>& emulator)
    : HostRig(options, served_by(emulator)) {
  if (!options.seed) return;
  const auto seeded = emulator->control("POST", "seed", kMailbox);
  invoice = text_at(seeded, "/ids/0");
  bridge = text_at(seeded, "/ids/1");
  news = text_at(seeded, "/ids/2");
}

void GmailRig::connect_account() {
  const auto begun = parse(
      control("POST", "/connections/gmail/oauth",
              R"({"client_id":")" + served().client_id + R"(","client_secret":")" + served().client_secret + "\"}")
          .body);
  browse(text_at(begun, "/attempt/authorize_url"));
  const std::string attempt = "/connections/gmail/oauth/" + text_at(begun, "/attempt/attempt_id");
  const auto state = [&] { return text_at(parse(control("GET", attempt).body), "/attempt/state"); };
  if (!eventually([&] { return state() == "connected"; })) throw std::runtime_error("it was not connected: " + state());
}

Answer GmailRig::mail(const std::string& subject, const std::string& to) {
  return invoke("email.send", R"({"to":")" + to + R"(","subject":")" + subject + R"(","body":"Only once."})");
}

Answer GmailRig::on(const std::string& capability, const std::string& message_id, const std::string& more) {
  return invoke(capability, R"({"message_id":")" + message_id + "\"" + more + "}");
}

Answer GmailRig::roll_back(const std::string& write_id) {
  return invoke("proxy.rollback", R"({"write_id":")" + write_id + "\"}");
}

std::string GmailRig::upload(const std::string& filename, const std::string& bytes) {
  const auto reply = http_request(gateway_port(), "POST", "/uploads?filename=" + filename,
                                  {{"authorization", "Bearer " + key}, {"content-type", "text/plain"}}, bytes);
  return text_at(parse(reply.body), "/upload_id");
}

std::string GmailRig::deliver(const std::string& subject) {
  return text_at(gmail().act(R"({"action":"deliver","from":"chen@example.com","to":"agent@example.com","subject":")" +
                             subject + R"(","body":"Hello."})"),
                 "/id");
}

std::set<std::string> GmailRig::mailbox() {
  std::set<std::string> all;
  const auto document = gmail().messages();
  for (const auto& message : document["messages"].GetArray()) all.insert(line_of(message, "/labelIds"));
  return all;
}

std::set<std::string> GmailRig::replica() {
  std::set<std::string> all;
  const auto found = invoke("email.search", R"({"query":"in:anywhere","limit":100})");
  const auto* messages = find_at(found.document, "/result/data/messages");
  if (!messages) return {"no answer: " + text_of(found.document)};
  for (const auto& message : messages->GetArray()) all.insert(line_of(message, "/labels"));
  return all;
}

std::string GmailRig::labels_of(const std::string& message_id) {
  const auto document = gmail().messages();
  for (const auto& message : document["messages"].GetArray()) {
    if (text_at(message, "/id") == message_id) return labels_in(message, "/labelIds");
  }
  return "none";
}

std::int64_t GmailRig::sent_of(const std::string& subject) {
  std::int64_t count = 0;
  const auto document = gmail().messages();
  for (const auto& message : document["messages"].GetArray()) {
    const std::string labels = " " + labels_in(message, "/labelIds") + " ";
    count += text_at(message, "/subject") == subject && labels.find(" SENT ") != std::string::npos;
  }
  return count;
}

}  // namespace krux::test
