#include "host/cli/commands.hpp"

namespace krux::cli {

const char* const kBashCompletion = R"(# bash completion of kruxos
_kruxos() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} commands=() i
  case $previous in
    --data-dir|--definitions|--dir|--bundles-dir|install|backup|restore) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --socket|--output|--with-key|--key-file|verify|certify) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --socket|--data-dir|--service|--recent|--definitions|--acknowledge|--agent|--reason|--wait|--receipt) ((i++)) ;;
      --dir|--prefix|--display-name|--only|--output|--time-limit|--bundles-dir|--with-key|--key-file|--url) ((i++)) ;;
      -*) ;;
      *) commands+=("${COMP_WORDS[i]}") ;;
    esac
  done
  local common='--socket --data-dir --json --help' choices=
  case "${commands[*]}" in
    '') choices='status mcp agent sign-in connect disconnect sync approve held dlq plugin adapter vault backup restore config alerts completion' ;;
    mcp*) choices='--key-file --tools --url' ;;
    agent) choices='create list show rotate revoke' ;;
    'agent rotate'*|'agent revoke'*|'approve cancel'*) choices='--yes' ;;
    sign-in) choices='list accept reject end' ;;
    'sign-in accept'*) choices='--agent --yes' ;;
    'sign-in end'*) choices='--yes' ;;
    connect) choices='status --account --profile --flow --client-id --token --help-setup --no-browser' ;;
    disconnect*) choices='--force --wait --yes --receipt --receipts' ;;
    sync*) choices='--wait' ;;
    backup*) choices='--with-key --without-replicas' ;;
    vault) choices='status unlock rotate passphrase' ;;
    'vault passphrase') choices='--remove' ;;
    approve) choices='list show accept reject edit cancel rollback resolve' ;;
    'approve accept'*|'dlq retry'*|'dlq discard'*) choices='--all --service --agent --yes' ;;
    'approve reject'*) choices='--all --service --agent --reason --yes' ;;
    'approve edit'*) choices='--yes' ;;
    'approve rollback'*) choices='--force --yes' ;;
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
    adapter) choices='new certify' ;;
    'adapter new'*) choices='--dir --prefix --display-name' ;;
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
