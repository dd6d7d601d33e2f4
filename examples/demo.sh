#!/usr/bin/env bash
# Audits a training program with a subtle gradient fault, then the same program cured: neither imports Retrograde.
# Then recovers what an instrument had measured in a chamber 7.5 minutes before the one scan that is used.
set -uo pipefail
cd "$(dirname "$0")"

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

run() {
    local expected=$1 status=0
    shift
    printf '\n$ retrograde %s\n' "${*//$results/results}"
    retrograde "$@" || status=$?
    if [ "$status" -ne "$expected" ]; then
        printf 'The demo expected exit status %s, and got %s.\n' "$expected" "$status" >&2
        exit 1
    fi
}

run 1 audit conductivity_pingpong.py
printf '\nThe cure, all of it:\n'
diff --unified=0 conductivity_pingpong.py conductivity_states.py | grep '^[-+] ' || true
run 0 audit conductivity_states.py
run 0 calibrate flushed_chamber.csv --window 14:22:20..14:44:50 --law power-law --out "$results/loss.toml"
run 0 invert flushed_chamber.csv --at 14:12:20 --from 14:19:50 --loss "$results/loss.toml" --out "$results"
