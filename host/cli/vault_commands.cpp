#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/passphrase_input.hpp"
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

SecretBytes ask_present(const Session& session) {
  return ask_passphrase(session.console, "Present passphrase (not shown while you type): ");
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
  const auto passphrase = flag(vault, "passphrase_set")
                              ? ask_passphrase(session.console, "Passphrase (not shown while you type): ")
                              : ask_new_passphrase(session.console);
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
  const auto wanted = ask_new_passphrase(session.console);
  const auto body = secret_body({{"passphrase", as_view(present)}, {"new_passphrase", as_view(wanted)}});
  return print_vault(session, session.host.post("/v1/vault/passphrase", as_view(body)));
}

int use_vault_key_file(const Session& session) {
  const auto passphrase = ask_present(session);
  const auto body = secret_body({{"passphrase", as_view(passphrase)}});
  return print_vault(session, session.host.post("/v1/vault/key-file", as_view(body)));
}

}  // namespace krux::cli
