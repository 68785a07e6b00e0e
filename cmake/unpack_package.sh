#!/usr/bin/env bash
# Unpacks a Debian package for its programs, and installs nothing: for one whose dependencies are large and of no use to these.
#   bash cmake/unpack_package.sh PACKAGE FOLDER     FOLDER/usr/bin has them then. Quiet when there is nothing to do.
set -euo pipefail
package=$1 folder=$2
[ -d "$folder/usr/bin" ] && exit 0

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Unpacking Debian package: $package"
download() { (cd "$work" && apt-get download -qq "$package") >"$work/log" 2>&1; }
# Machines that have just been made know of no packages.
if ! download; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq >>"$work/log" 2>&1 || true
  download || { cat "$work/log" >&2; echo "Could not download $package: see above" >&2; exit 1; }
fi
# Whole, or not at all: whoever comes next looks whether it is there.
dpkg -x "$work"/*.deb "$folder.new"
mv "$folder.new" "$folder"
