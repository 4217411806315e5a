#include "host/cli/commands.hpp"

namespace krux::cli {

const char* const kBashCompletion = R"(# bash completion of kruxos
_kruxos() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} commands=() i
  case $previous in
    --data-dir|--definitions|--dir|--bundles-dir|install|backup|restore) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --socket|--file|--anchors|--output|--with-key|--key-file|--passphrase-file|verify|certify) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --socket|--data-dir|--service|--recent|--write|--kind|--since|--until|--limit|--after|--definitions|--acknowledge|--agent|--reason|--wait|--receipt) ((i++)) ;;
      --dir|--file|--anchors|--key|--prefix|--display-name|--only|--output|--time-limit|--bundles-dir|--with-key|--key-file|--passphrase-file|--operator|--url) ((i++)) ;;
      -*) ;;
      *) commands+=("${COMP_WORDS[i]}") ;;
    esac
  done
  local common='--socket --data-dir --json --passphrase-file --operator --help' choices=
  case "${commands[*]}" in
    '') choices='status mcp agent policy audit receipt sign-in connect disconnect sync approve webhook held dlq plugin adapter operator vault backup restore config alerts completion' ;;
    mcp*) choices='--key-file --tools --url' ;;
    agent) choices='create list show rotate pause resume revoke' ;;
    policy) choices='validate show check analyze simulate' ;;
    audit) choices='query verify export key rotate-key' ;;
    'audit query'*) choices='--agent --service --write --kind --since --until --limit' ;;
    'audit verify'*) choices='--file --anchors --key' ;;
    'audit export'*) choices='--after' ;;
    receipt) choices='get verify' ;;
    'receipt get'*) choices='--output' ;;
    'receipt verify'*) choices='--key' ;;
    'audit rotate-key') choices='--yes' ;;
    'agent rotate'*) choices='--grace --yes' ;;
    'agent revoke'*|'approve cancel'*) choices='--yes' ;;
    'agent pause'*) choices='--all --reason' ;;
    'agent resume'*) choices='--all' ;;
    sign-in) choices='list accept reject end' ;;
    'sign-in accept'*) choices='--agent --yes' ;;
    'sign-in end'*) choices='--yes' ;;
    connect) choices='status --account --profile --flow --client-id --token --help-setup --no-browser' ;;
    disconnect*) choices='--force --wait --yes --receipt --receipts' ;;
    sync*) choices='--wait' ;;
    backup*) choices='--with-key --without-replicas' ;;
    operator) choices='status list add remove set-passphrase' ;;
    'operator remove'*) choices='--yes' ;;
    'operator set-passphrase') choices='--forgotten' ;;
    vault) choices='status unlock rotate passphrase' ;;
    'vault passphrase') choices='--remove' ;;
    approve) choices='list watch stats standing show accept reject edit cancel rollback resolve' ;;
    'approve accept'*|'dlq retry'*|'dlq discard'*) choices='--all --service --agent --yes' ;;
    'approve reject'*) choices='--all --service --agent --reason --yes' ;;
    'approve edit'*) choices='--yes' ;;
    'approve rollback'*) choices='--force --yes' ;;
    webhook) choices='show test' ;;
    held) choices='list show release complete discard' ;;
    'held list') choices='--service' ;;
    'held release'*|'held complete'*|'held discard'*) choices='--all --service --agent --yes' ;;
    dlq) choices='list show retry discard' ;;
    'dlq list') choices='--service' ;;
    'approve list') choices='--service --recent' ;;
    'approve resolve'*) choices='--resend --discard --happened --yes' ;;
    plugin) choices='list install remove verify release' ;;
    'plugin install'*) choices='--yes --definitions --bundles-dir' ;;
    'plugin remove'*) choices='--yes --force --bundles-dir' ;;
    'plugin verify'*) choices='--definitions' ;;
    adapter) choices='new wrap certify' ;;
    'adapter new'*) choices='--dir --prefix --display-name' ;;
    'adapter wrap'*) choices='--display-name --adapters --definitions --library --token --network --readable --environment-file --sandbox --memory-mib --allow-root --time-limit --yes' ;;
    'adapter certify'*) choices='--only --list --output --time-limit' ;;
    config) choices='show' ;;
    alerts) choices='--all --acknowledge' ;;
    completion) choices='bash' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$choices $common" -- "$word")
}
complete -F _kruxos kruxos
)";

}  // namespace krux::cli
