#!/usr/bin/env bash
# Installs what is needed, builds, and runs all tests: as they are, then under the address and undefined-behaviour
# sanitizers, then those with threads under the thread sanitizer; and fuzzes every reader of foreign bytes for a short
# time. `test.sh release` stops after the first.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The browser tests take node and npm wherever they come from.
browser=()
command -v chromium >/dev/null || browser+=(chromium)
command -v npm >/dev/null || browser+=(nodejs npm)
"$root/tools/install_packages.sh" "${browser[@]}"

# Most tests wait for the disk to sync: where there is room in memory, they take a third of the time there.
if [[ -z ${TMPDIR:-} && $(df --output=avail /dev/shm 2>/dev/null | tail -n 1) -gt $((4 << 20)) ]]; then
  TMPDIR=$(mktemp -d /dev/shm/somatlas-tests-XXXXXX)
  chmod 755 "$TMPDIR" # some tests go on as another user
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi

run() { # FOLDER [CTEST OPTION...]
  local folder=$1
  shift
  # Many tests wait for the disk: twice as many as there are cores keep the cores busy.
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$((2 * $(nproc)))" "$@"
}

"$root/tools/build.sh" "$root/build/release"
run "$root/build/release"
if [[ ${1:-} == release ]]; then
  exit 0
fi

export SOMATLAS_SHORT_TESTS=1 # random tests take a quarter of their rounds
"$root/tools/build.sh" "$root/build/address" -DSOMATLAS_SANITIZE=address
ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 run "$root/build/address"

tbb=$("$root/tools/build_tbb_for_threads.sh" "$root/build/thread_tbb")
"$root/tools/build.sh" "$root/build/thread" -DSOMATLAS_SANITIZE=thread -- test_gpu test_pipeline test_ingest test_store \
  test_serve
LD_LIBRARY_PATH=$tbb TSAN_OPTIONS=suppressions=$root/tests/thread_sanitizer.supp:halt_on_error=1 \
  run "$root/build/thread" -R '^(gpu|pipeline|ingest|store|serve)\.'

"$root/tools/fuzz.sh"
