#!/usr/bin/env bash
# One file of the agent can start a thread: threads.sh FILE OBJECT... (each object's name ends with its source's).
set -euo pipefail
allowed=$1
shift

starting=$(nm -A --undefined-only "$@" | grep -E ' (pthread_create|thrd_create|clone|clone3)$' | cut -d: -f1 | sort -u || true)
case $starting in
  *"/$allowed.o") [ "$(wc -l <<<"$starting")" -eq 1 ] || { echo "start threads: $starting"; exit 1; } ;;
  *) echo "only $allowed should start threads, not: $starting"; exit 1 ;;
esac
