#!/usr/bin/env bash
# Installs the Debian packages named in the given lists, if they are not there yet. Quiet when there is nothing to do.
#   bash cmake/install_packages.sh cmake/packages-build.txt ...
set -euo pipefail

wanted=$(sed 's/#.*//' "$@" | tr -s ' \n' '\n' | sort -u | sed '/^$/d')
missing=()
for package in $wanted; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing Debian packages: ${missing[*]}" >&2
    echo "Install them as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing Debian packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "Installing failed; see above. Needed: ${missing[*]}" >&2
  exit 1
fi
