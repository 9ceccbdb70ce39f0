#!/usr/bin/env bash
# Fuzzes every reader of foreign bytes (tests/fuzz) with the address and undefined-behaviour sanitizers: fuzz.sh [SECONDS
# [TARGET...]], 30 seconds a target by default, as many at once as there are cores. Each begins with its corpus in
# tests/data/fuzz. Fails where one crashes, hangs or takes too much memory, and says where the input is.
# Always holds: the tree stays as it is; what is found is in build/fuzz/run/TARGET. An input that found a fault joins the
# corpus under a name that says what it is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=${1:-30}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
if ((${#targets[@]} == 0)); then
  targets=(medline gzip mesh shard values checkpoint rows maps request)
fi
"$root/tools/install_packages.sh" clang-14 libclang-rt-14-dev
"$root/tools/build.sh" "$root/build/fuzz" -DCMAKE_CXX_COMPILER=clang++-14 -DSOMATLAS_FUZZ=ON -- "${targets[@]/#/fuzz_}"

fuzz() { # TARGET
  local run=$root/build/fuzz/run/$1
  rm -rf "$run"
  mkdir -p "$run"
  cp -r "$root/tests/data/fuzz/$1" "$run/corpus"
  local options=()
  if [[ $1 == medline || $1 == mesh ]]; then
    options+=("-dict=$root/tests/fuzz/xml.dict")
  fi
  # A small quarantine and no stacks of allocations: several times as many executions.
  ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=0 UBSAN_OPTIONS=print_stacktrace=1 \
    "$root/build/fuzz/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=2048 -timeout=5 -rss_limit_mb=512 \
    -malloc_limit_mb=64 -entropic=0 -print_final_stats=1 -artifact_prefix="$run/" "${options[@]}" "$run/corpus" \
    >"$run/log" 2>&1 || echo "failed with $?" >>"$run/log"
}

for target in "${targets[@]}"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do
    wait -n
  done
  fuzz "$target" &
done
wait

status=0
printf '%-12s%14s%12s%10s%9s\n' target executions 'a second' coverage crashes
for target in "${targets[@]}"; do
  run=$root/build/fuzz/run/$target
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$run/log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$run/log" | tail -1)
  found=$(find "$run" -maxdepth 1 -name '*-*' | wc -l)
  printf '%-12s%14s%12s%10s%9s\n' "$target" "${executions:--}" "$((${executions:-0} / seconds))" "${coverage:--}" "$found"
  if ((found > 0)) || grep -q '^failed with' "$run/log"; then
    status=1
  fi
done
for target in "${targets[@]}"; do
  run=$root/build/fuzz/run/$target
  if grep -q '^failed with' "$run/log"; then
    echo "fuzz: $target failed; the end of $run/log, with the input beside it:" >&2
    tail -n 40 "$run/log" >&2
  fi
done
exit "$status"
