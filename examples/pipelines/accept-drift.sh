#!/bin/sh
# Proposes drift for review: writes what was changed at the service into the manifests, on a branch of its own, and opens a
# pull request on GitHub (with gh) or a merge request on GitLab (with push options). Merging keeps the change; closing it
# leaves it to the next apply, which reverts it.
#
#   accept-drift.sh MANIFESTS
set -eu
branch=edgewise/drift
title='Keep what was changed at the service'
report=$(mktemp)
trap 'rm -f "$report"' EXIT

git switch --quiet --force-create "$branch"
code=0
edgewise accept --all "$1" --yes --report "markdown=$report" || code=$?
# 1: some of it cannot be written back. The rest is proposed.
[ "$code" -le 1 ] || exit "$code"
if git diff --quiet; then exit "$code"; fi
git commit --quiet --all --message "$title"

if [ -n "${GITLAB_CI:-}" ]; then
  git push --quiet --force -o merge_request.create -o merge_request.title="$title" origin "$branch"
else
  git push --quiet --force origin "$branch"
  gh pr create --head "$branch" --title "$title" --body-file "$report" ||
    gh pr edit "$branch" --body-file "$report"
fi
exit "$code"
