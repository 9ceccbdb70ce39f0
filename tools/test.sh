#!/usr/bin/env bash
# Installs what is needed, builds, and runs all tests. `test.sh sanitizers` goes on under the address and
# undefined-behaviour sanitizers, then with the threaded tests under the thread sanitizer.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/install_packages.sh"

run() { # FOLDER [CTEST OPTION...]
  local folder=$1
  shift
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

# One GPU architecture is enough to know that the CUDA sources compile; people get four.
"$root/tools/build.sh" "$root/build/release" -DCMAKE_CUDA_ARCHITECTURES=90
run "$root/build/release"
if [[ ${1:-} != sanitizers ]]; then
  exit 0
fi

export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
"$root/tools/build.sh" "$root/build/address" -DSOMATLAS_SANITIZE=address
run "$root/build/address"

# Debian's oneTBB is not built for the thread sanitizer; nothing of somatlas's own is suppressed.
export TSAN_OPTIONS=suppressions=$root/tests/thread_sanitizer.supp:halt_on_error=1
"$root/tools/build.sh" "$root/build/thread" -DSOMATLAS_SANITIZE=thread
run "$root/build/thread" -R '^(gpu|pipeline|ingest)\.'
