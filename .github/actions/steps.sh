# What the steps of the actions plan, apply and drift share. Sourced by bash.

# A runner that was started in the background ignores INT, and so do its shells, which then cannot trap it: this one starts again.
if [[ $(trap -p INT) == *"''"* ]] && env --default-signal=INT true 2>/dev/null; then
  exec env --default-signal=INT bash --noprofile --norc -e -o pipefail "$0"
fi

# Ends the step with a message about the workflow.
refuse() {
  printf '::error title=edgewise::%s\n' "$1"
  exit 3
}

# Prepares a step that sends requests. Sets folder, manifests and arguments.
prepare() {
  # The key is sent there: the workflow says where that is, and no manifest.
  [ -n "$EDGEWISE_BASE_URL" ] || refuse 'The input base-url is empty. Set it to the URL of the service.'
  # An empty variable would hide EDGEWISE_API_KEY_FILE.
  [ -n "${EDGEWISE_API_KEY:-}" ] || unset EDGEWISE_API_KEY
  if is_untrusted; then export EDGEWISE_UNTRUSTED=1; fi
  folder=$(mktemp -d "$RUNNER_TEMP/edgewise-XXXXXXXXXX")
  manifests=()
  local line
  while read -r line; do
    if [ -n "$line" ]; then manifests+=("$line"); fi
  done <<< "$MANIFESTS"
  [ ${#manifests[@]} -gt 0 ] || refuse 'The input manifests is empty. Name a folder or a file with manifests.'
  read -r -d '' -a arguments <<< "$ARGUMENTS" || true
}

# Adds to arguments which stacks are planned. What applies the plans selects the same ones: any other stack that it finds has no approved plan.
select_stacks() {
  if [ "$RECURSIVE" = true ]; then arguments+=(--recursive); fi
  if [ -n "$CHANGED_SINCE" ]; then arguments+=("--changed-since=$CHANGED_SINCE"); fi
  local names name
  read -r -d '' -a names <<< "$STACK" || true
  for name in "${names[@]}"; do arguments+=("--stack=$name"); done
}

# Whether the checkout may hold what nobody has merged. Without the input, only a run for the default branch is trusted: the ref of
# pull_request_target, issue_comment and workflow_run is the default branch too, and they often check out something else.
is_untrusted() {
  case $UNTRUSTED in
    true) return 0 ;;
    false) return 1 ;;
    '') ;;
    *) refuse 'The input untrusted is true, false, or empty.' ;;
  esac
  case $GITHUB_EVENT_NAME in
    schedule) return 1 ;;
    push | workflow_dispatch) [ "$GITHUB_REF" != "refs/heads/$DEFAULT_BRANCH" ] ;;
    *) return 0 ;;
  esac
}

# without_commands COMMAND…: the runner takes nothing that it prints as a workflow command. Its errors go the same way as its output: the
# runner reads two streams in any order.
# The runner interrupts only this shell when a job is cancelled or takes too long. The shell passes the first signal on, and ignores
# the others: edgewise finishes the writes in progress and reports them. A second signal would end it at once.
without_commands() {
  local token pid code=0 interrupted=
  token=$(node --print 'require("node:crypto").randomUUID()')
  printf '::stop-commands::%s\n' "$token"
  "$@" 2>&1 &
  pid=$!
  trap 'trap "" INT TERM; interrupted=1; kill "$pid" 2>/dev/null || true' INT TERM
  wait "$pid" || code=$?
  trap '' INT TERM
  if [ -n "$interrupted" ]; then
    code=0
    wait "$pid" || code=$?
  fi
  printf '\n::%s::\n' "$token"
  return "$code"
}

# edgewise_with_key ARGUMENT…: edgewise never has the token of the forge and the key in one process.
edgewise_with_key() {
  unset TOKEN
  exec edgewise "$@"
}

# post ARGUMENT…: posts a report with the token of the forge, and without the key. In the same shell as the command that made the
# report: of a cancelled job, the runner gives no other step the time.
post() (
  unset EDGEWISE_API_KEY EDGEWISE_API_KEY_FILE
  export GITHUB_TOKEN=$TOKEN
  without_commands edgewise post "$@"
)

# ask QUESTION…: asks GitHub (forge.mjs), without the key.
ask() (
  unset EDGEWISE_API_KEY EDGEWISE_API_KEY_FILE
  exec node "$GITHUB_ACTION_PATH/../forge.mjs" "$@"
)

# Whether the run has no key because GitHub gives it none: it is of a fork, or of Dependabot. Any other run without a key fails.
has_no_secrets() {
  [ "$WITHOUT_SECRETS" = true ] && [ -z "${EDGEWISE_API_KEY:-}${EDGEWISE_API_KEY_FILE:-}" ]
}

# Checks the manifests of a run without secrets, and says that there is no plan. Sets code.
validate_only() {
  without_commands edgewise validate --report "github=$folder/annotations.txt" "${arguments[@]}" -- "${manifests[@]}" || code=$?
  local text='There is no plan: GitHub gives no secrets to runs of forks and of Dependabot. The manifests were validated.'
  printf '::notice title=edgewise::%s\n' "$text"
  printf '%s\n' "$text" | tee "$folder/no-plan.md" >> "$GITHUB_STEP_SUMMARY"
}

# compare PLAN: lists what a plan of a merge queue does that the approved plan of its pull request does not, such as what is before it in
# the queue. The check passes: the apply after the merge decides.
compare() {
  local file approved
  for file in "$1" "$1"/*.json; do
    if [ ! -f "$file" ]; then continue; fi
    approved=$APPROVED/${file#"$folder/"}
    if [ -f "$approved" ]; then
      without_commands edgewise diff "$approved" "$file" --report "markdown=$folder/queue.md" || true
      summarize "$folder/queue.md"
    else
      printf 'The pull request has no approved plan that is named %s.\n' "${file#"$folder/"}" | tee -a "$GITHUB_STEP_SUMMARY"
    fi
  done
}

# annotate FILE: shows the annotations of a report, and nothing else that is in the file.
annotate() {
  if [ -f "$1" ]; then grep -E '^::(error|warning|notice) ' "$1" || true; fi
}

# summarize FILE: shows a report on the page of the run.
summarize() {
  if [ -f "$1" ]; then cat "$1" >> "$GITHUB_STEP_SUMMARY"; fi
}
