#!/bin/sh
# Proposes drift for review: writes what was changed at the service into the manifests, on a branch of its own, and opens a
# pull request on GitHub (with gh) or a merge request on GitLab (with push options). Merging keeps the change; closing it
# leaves it to the next apply, which reverts it.
#
#   accept-drift.sh MANIFESTS
#
# At GitHub, APPLY_WORKFLOW is the workflow that applies. At GitLab, RUNNING_APPLY is the page of an apply that runs.
set -eu
branch=edgewise/drift
title='Keep what was changed at the service'
report=$(mktemp)
trap 'rm -f "$report"' EXIT

# The key and the token of the forge are never in one process.
without_key() { env -u EDGEWISE_API_KEY -u EDGEWISE_API_KEY_FILE "$@"; }

git switch --quiet --force-create "$branch"
env -u GH_TOKEN -u GITHUB_TOKEN -u EDGEWISE_GITLAB_TOKEN edgewise accept --all "$1" --yes --report "markdown=$report" &
# A runner that cancels the job may stop only this shell.
trap 'kill "$!"' INT TERM
while kill -0 "$!" 2>/dev/null; do code=0; wait "$!" || code=$?; done
trap - INT TERM
# 1: some of it cannot be written back. The rest is proposed.
[ "$code" -le 1 ] || exit "$code"
if git diff --quiet; then exit "$code"; fi
git commit --quiet --all --message "$title"

if [ -n "${GITLAB_CI:-}" ]; then running=${RUNNING_APPLY:-}
else running=$(without_key gh run list --workflow "${APPLY_WORKFLOW:-apply.yml}" --status in_progress --limit 1 --json url --jq '.[].url') || running=; fi
if [ -n "$running" ]; then
  printf '\nAn apply was running (%s): what it had not written yet is proposed here too.\n' "$running" | tee -a "$report"
fi

if [ -n "${GITLAB_CI:-}" ]; then
  # A push option is one line of at most 65,516 bytes. GitLab makes lines of each \n.
  text=$(awk '{ printf "%s\\n", $0 }' "$report" | head -c 60000)
  without_key git push --quiet --force -o merge_request.create -o merge_request.title="$title" \
    -o merge_request.description="$text" origin "$branch"
else
  without_key git push --quiet --force origin "$branch"
  without_key gh pr create --head "$branch" --title "$title" --body-file "$report" ||
    without_key gh pr edit "$branch" --body-file "$report"
fi
exit "$code"
