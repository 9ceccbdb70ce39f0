#!/usr/bin/env bash
# Configures and builds into a folder: build.sh FOLDER [CMAKE OPTION...]. Uses ccache where it is installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$1
shift

options=(-G Ninja)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$folder" "${options[@]}" "$@"
cmake --build "$folder"
