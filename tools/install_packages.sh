#!/usr/bin/env bash
# Installs what building and testing somatlas needs, on Debian 12 or its like, and the packages that are named as
# arguments. Does nothing where all of it is there.
# The CUDA Toolkit is optional and not installed here: without it the program is built for the CPU alone.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config git dpkg-dev xz-utils
  libtbb-dev libzstd-dev libxml2-dev librocksdb-dev libisal-dev libssl-dev zlib1g-dev
  libxxhash-dev libspng-dev libsqlite3-dev libmicrohttpd-dev libjs-leaflet libcli11-dev nlohmann-json3-dev libgtest-dev
  "$@"
)

missing=()
for package in "${packages[@]}"; do
  if ! dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii'; then
    missing+=("$package")
  fi
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_packages: these packages are missing and need root to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
