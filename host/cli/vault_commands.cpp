#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/secret_body.hpp"

namespace krux::cli {
namespace {

JsonDocument vault_of(const Session& session) {
  auto answer = session.host.get("/v1/vault");
  return std::move(answer.json);
}

bool takes_passphrase(const JsonValue& vault) {
  return text(vault, "mode") == "passphrase";
}

SecretBytes ask(const Session& session, const std::string& prompt) {
  auto secret = session.console.read_secret(prompt);
  if (secret.empty())
    throw CliError(kUsage, "No passphrase was given; nothing was changed. Give it on standard input, one a line.");
  return secret;
}

/// Typed twice on a terminal, where nobody sees what is typed.
SecretBytes ask_new(const Session& session) {
  auto wanted = ask(session, "New passphrase (not shown while you type): ");
  if (!session.console.reads_terminal()) return wanted;
  if (as_view(ask(session, "The same again: ")) != as_view(wanted))
    throw CliError(kFailed, "The two are not the same; nothing was changed.");
  return wanted;
}

SecretBytes ask_present(const Session& session) {
  return ask(session, "Present passphrase (not shown while you type): ");
}

int print_vault(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& vault = part(answer.json, "vault");
  const bool locked = flag(vault, "locked");
  Listing listing;
  listing.add("Vault", {locked ? "locked" : "open", locked ? Style::kWarn : Style::kGood});
  if (takes_passphrase(vault)) {
    listing.add("Protected by", fmt::format("a passphrase{} (Argon2id, {} passes, {} MiB)",
                                            flag(vault, "passphrase_set") ? "" : ", which is not set yet",
                                            number(vault, "argon2_passes"), number(vault, "argon2_memory_mib")));
    const auto wait = number(vault, "next_try_in_ms");
    if (wait > 0)
      listing.add("Next try", {fmt::format("in {} s, after wrong ones", (wait + 999) / 1000), Style::kWarn});
  } else {
    listing.add("Protected by", "the key file " + text(vault, "key_file"));
  }
  const auto made = number(vault, "key_made_at_ms");
  listing.add("Key made", made == 0 ? "not known" : moment(made, session.now_ms));
  listing.add("Tokens", std::to_string(number(vault, "tokens")));
  listing.print(session.console);
  if (locked) session.console.out() << "Unlock it with: kruxos vault unlock\n";
  return kOk;
}

}  // namespace

int show_vault(const Session& session) {
  return print_vault(session, session.host.get("/v1/vault"));
}

int unlock_vault(const Session& session) {
  const auto before = vault_of(session);
  const auto& vault = part(before, "vault");
  if (!flag(vault, "locked")) return show_vault(session);
  const auto passphrase =
      flag(vault, "passphrase_set") ? ask(session, "Passphrase (not shown while you type): ") : ask_new(session);
  const auto body = secret_body({{"passphrase", as_view(passphrase)}});
  return print_vault(session, session.host.post("/v1/vault/unlock", as_view(body)));
}

int rotate_vault(const Session& session) {
  const auto before = vault_of(session);
  const auto passphrase = takes_passphrase(part(before, "vault")) ? ask_present(session) : SecretBytes();
  const auto body = secret_body({{"passphrase", as_view(passphrase)}});
  return print_vault(session, session.host.post("/v1/vault/rotate", as_view(body)));
}

int set_vault_passphrase(const Session& session) {
  const auto before = vault_of(session);
  const auto& vault = part(before, "vault");
  // An empty vault's passphrase may be forgotten.
  const bool forgotten = flag(vault, "locked") && number(vault, "tokens") == 0;
  const auto present = takes_passphrase(vault) && !forgotten ? ask_present(session) : SecretBytes();
  const auto wanted = ask_new(session);
  const auto body = secret_body({{"passphrase", as_view(present)}, {"new_passphrase", as_view(wanted)}});
  return print_vault(session, session.host.post("/v1/vault/passphrase", as_view(body)));
}

int use_vault_key_file(const Session& session) {
  const auto passphrase = ask_present(session);
  const auto body = secret_body({{"passphrase", as_view(passphrase)}});
  return print_vault(session, session.host.post("/v1/vault/key-file", as_view(body)));
}

}  // namespace krux::cli
