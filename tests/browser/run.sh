#!/usr/bin/env bash
# Runs node here with some words behind it, as CTest does: run.sh WORD... Installs what the tests need from npm first, at the
# versions and checksums of package-lock.json, into SOMATLAS_BROWSER_MODULES. Ends with 77, which CTest reports as skipped,
# where chromium, node or npm are absent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for program in chromium node npm; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: $program is not installed; tools/install_packages.sh chromium nodejs npm installs it" >&2
    exit 77
  fi
done
folder=$SOMATLAS_BROWSER_MODULES
if ! cmp -s package-lock.json "$folder/node_modules/installed.json"; then
  mkdir -p "$folder"
  cp package.json package-lock.json "$folder/"
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-update-notifier
  cp package-lock.json "$folder/node_modules/installed.json"
fi
exec node "$@"
