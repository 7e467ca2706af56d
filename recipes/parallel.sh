#!/usr/bin/env bash
# Applies a plan file in several processes by GNU parallel, then merges the results:
#
#   recipes/parallel.sh monday.plan results 4
#
# Run the same line again after a failure or a kill: only the shards that did not succeed run again, and
# each continues from its result file. With --sshlogin in $PARALLEL the shards run on other machines
# (a shared folder for the plan and the results; devsh, inventory, pins and logins on each).
set -euo pipefail

if (($# != 3)); then
  echo "usage: $0 PLANFILE RESULTS-FOLDER SHARDS" >&2
  exit 2
fi
export plan=$1 results=$2 shards=$3
mkdir -p "$results"

# The exit code of parallel is a number of jobs; the exit code of the merge describes the devices.
parallel --jobs "$shards" --joblog "$results/joblog" --resume-failed --line-buffer --tag \
  --env plan --env results --env shards \
  'devsh apply "$plan" --shard {}/"$shards" --result "$results"/{}.jsonl --yes --quiet </dev/null' \
  ::: $(seq "$shards") >&2 || true

devsh runs merge "$results"/*.jsonl --plan "$plan" -o "$results/report.md"
