# Sourced by the scripts beside it: where the project is, how many jobs fit, and output that is pleasant to watch.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
umask 022  # what others can write, the host refuses to load
interactive=false
if [[ -t 1 && ${TERM:-dumb} != dumb ]]; then interactive=true; fi

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0#"$root"/}" "$*" >&2; exit 1; }

# progress TEXT: one line that overwrites itself on a terminal, nothing elsewhere. progress_end clears it.
progress() { if $interactive; then printf '\r\033[K%s' "${1:0:$((${COLUMNS:-$(tput cols)} - 1))}"; fi; }
progress_end() { if $interactive; then printf '\r\033[K'; fi; }

seconds() { printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); }

# One job a processor, and 1.5 GB of free memory for each: the largest files need that much with a sanitizer.
job_count() {
  local available processors fit
  processors=$(nproc)
  available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
  fit=$((available / 1500))
  ((fit >= 1)) || fit=1
  ((fit <= processors)) || fit=$processors
  if [[ ${KRUXOS_JOBS:-} =~ ^[1-9][0-9]*$ ]] && ((KRUXOS_JOBS < fit)); then fit=$KRUXOS_JOBS; fi
  printf '%s' "$fit"
}

# The sanitizers' fixed shadow memory collides with the widest address randomisation of newer kernels; without it they
# work everywhere. Where a container forbids changing it, the command runs as it is.
steady() { if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi; }
