#!/usr/bin/env bash
# Audits a training program with a subtle gradient fault, then the same program cured. Neither imports Retrograde.
set -uo pipefail
cd "$(dirname "$0")"

audit() {
    local expected=$1 script=$2 status=0
    printf '\n$ retrograde audit %s\n' "$script"
    retrograde audit "$script" || status=$?
    if [ "$status" -ne "$expected" ]; then
        printf 'The demo expected exit status %s, and got %s.\n' "$expected" "$status" >&2
        exit 1
    fi
}

audit 1 conductivity_pingpong.py
printf '\nThe cure, all of it:\n'
diff --unified=0 conductivity_pingpong.py conductivity_states.py | grep '^[-+] ' || true
audit 0 conductivity_states.py
