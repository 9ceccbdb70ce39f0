#!/usr/bin/env bash
# Configures and builds into a folder: build.sh FOLDER [CMAKE OPTION...] [-- TARGET...]. Uses ccache where it is installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$1
shift

options=(-G Ninja)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
while (($# > 0)) && [[ $1 != -- ]]; do
  options+=("$1")
  shift
done
if (($# > 0)); then
  shift
fi
cmake -S "$root" -B "$folder" "${options[@]}"
cmake --build "$folder" ${1:+--target "$@"}
