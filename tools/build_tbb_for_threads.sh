#!/usr/bin/env bash
# Builds oneTBB with the thread sanitizer into a folder, from the source package of the installed version, and prints
# where the library lies: with Debian's own, which is not instrumented, its synchronisation looks like races of ours.
# Always holds: the machine's apt configuration stays as it is.
set -euo pipefail
folder=$(realpath -m "$1")
version=$(dpkg-query -W -f '${source:Version}' libtbb-dev)
if [[ ! -e $folder/$version ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"/{lists,source}
  # The same archives as for packages, asked for sources.
  mkdir "$folder/sources.d"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -e $list ]]; then
      sed -n 's/^deb /deb-src /p' "$list" >"$folder/sources.d/$(basename "$list" .list).list"
    fi
  done
  for list in /etc/apt/sources.list.d/*.sources; do
    if [[ -e $list ]]; then
      sed 's/^Types:.*/Types: deb-src/' "$list" >"$folder/sources.d/$(basename "$list")"
    fi
  done
  apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder/sources.d"
    -o "Dir::State::Lists=$folder/lists" -o APT::Sandbox::User=root)
  "${apt[@]}" update >&2
  (cd "$folder/source" && "${apt[@]}" source "onetbb=$version") >&2
  launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$folder"/source/onetbb-*/ -B "$folder/build" -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS=-g1 -DTBB_TEST=OFF -DTBB_STRICT=OFF \
    -DTBBMALLOC_BUILD=OFF -DTBB_SANITIZE=thread >&2
  cmake --build "$folder/build" --target tbb >&2
  touch "$folder/$version"
fi
dirname "$(find "$folder/build" -name libtbb.so.12)"
