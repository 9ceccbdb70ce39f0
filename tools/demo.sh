#!/usr/bin/env bash
# Installs what is needed, builds, and does the main job on the sample in tests/data/sample: ingest, info, train, map, a
# picture. Results go to FOLDER (demo/ by default).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1:-$root/demo}
sample=$root/tests/data/sample
if [[ -e $out ]]; then
  echo "demo: $out exists; remove it or name another folder" >&2
  exit 1
fi
"$root/tools/install_packages.sh"
"$root/tools/build.sh" "$root/build/program" -DSOMATLAS_TESTS=OFF
somatlas=$root/build/program/tools/somatlas
mkdir -p "$out"

say() { printf '\n== %s\n' "$*"; }
show() {
  printf '$ somatlas %s\n' "$*"
  "$somatlas" "$@"
}

say "Take the baseline and its updates into a store (some old headings have names that MeSH has changed: warnings are expected)"
show ingest --store "$out/store" --mesh "$sample/descriptors.tsv.gz" "$sample/baseline" "$sample/updatefiles"
say "What the store holds"
show info --store "$out/store"
say "Train a map of 48 x 48 neurons"
show train --store "$out/store" --atlas "$out/atlas" --side 48 --log "$out/training.jsonl"
say "Find new articles on it"
show map --atlas "$out/atlas" "$sample/new/new_articles.txt"
say "Later files: take them in and go on from the atlas"
show ingest --store "$out/store" "$sample/more"
show train --store "$out/store" --from "$out/atlas" --atlas "$out/atlas2"
say "Pictures and tables"
show export --atlas "$out/atlas2" --format png --layer hits "$out/hits.png"
show export --atlas "$out/atlas2" --format png --layer umatrix "$out/umatrix.png"
show export --atlas "$out/atlas2" --format png --layer regions "$out/regions.png"
show export --atlas "$out/atlas2" --format png --descriptor Hypertension "$out/hypertension.png"
show export --atlas "$out/atlas2" --format svg --layer regions --articles "$sample/new/new_articles.txt" "$out/new_articles.svg"
show export --atlas "$out/atlas2" --format csv "$out/cells.csv"
show export --atlas "$out/atlas2" --format regions "$out/regions.csv"
show export --atlas "$out/atlas2" --format npy "$out/npy"
say "Done: look at $out/regions.png and $out/hits.png; tables are in $out/cells.csv and $out/npy"
