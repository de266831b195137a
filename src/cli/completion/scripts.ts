/**
 * What each shell runs when somebody presses the tab key: it asks `edgewise __complete` for whole words, a line each with a tab and what the word
 * means. The line `:files` says that paths may stand there too, which the shell offers itself.
 */

/** The shells that there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** One of the shells. */
export type Shell = (typeof SHELLS)[number];

/** Bash splits words at `=` and `:`, and puts a candidate in the place of the last part only. Works with bash 3.2, where `compopt` is not there. */
const BASH = String.raw`# Completion of edgewise for bash. In ~/.bashrc: source <(edgewise completion bash)
_edgewise() {
  local IFS=$'\n' i word about joined= files= line
  local -a words=() found=()
  local cur=${'$'}{COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${'$'}{COMP_WORDS[i]}
    if ((${'$'}{#words[@]} > 0)) && [[ $joined || $word == [=:]* ]]; then
      words[${'$'}{#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    joined=
    [[ $word == [=:]* ]] && joined=1
  done
  local whole=${'$'}{words[${'$'}{#words[@]} - 1]}
  [[ $cur == [=:]* ]] && cur=
  local lead=${'$'}{whole%"$cur"}
  while IFS=$'\t' read -r word about; do
    case $word in
      :files) files=1 ;;
      :* | '') ;;
      *) found+=("${'$'}{word#"$lead"}") ;;
    esac
  done < <("$1" __complete -- "${'$'}{words[@]}" 2>/dev/null)
  COMPREPLY=()
  if [[ $files && ${'$'}{#found[@]} -eq 0 ]]; then
    compopt -o default 2>/dev/null
    return
  fi
  compopt +o default 2>/dev/null
  ((${'$'}{#found[@]} > 0)) && COMPREPLY=("${'$'}{found[@]}")
  if [[ $files ]]; then
    for line in $(compgen -f -- "$cur"); do
      [[ -d $line ]] && line+=/
      COMPREPLY+=("$(printf %q "$line")")
    done
  fi
  if ((${'$'}{#COMPREPLY[@]} == 1)) && [[ ${'$'}{COMPREPLY[0]} == *[=/:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _edgewise edgewise
`;

const ZSH = String.raw`#compdef edgewise
# Completion of edgewise for zsh. In ~/.zshrc, after compinit: source <(edgewise completion zsh)
_edgewise() {
  local line word about files
  local -a closed open
  for line in "${'$'}{(@f)$("${'$'}{words[1]}" __complete -- "${'$'}{(@Q)words[2,CURRENT-1]}" "$IPREFIX${'$'}{(Q)PREFIX}" 2>/dev/null)}"; do
    word=${'$'}{line%%$'\t'*}
    about=${'$'}{line#*$'\t'}
    case $word in
      :files) files=1 ;;
      :*|'') ;;
      *[=/:]) open+=("${'$'}{word//:/\\:}:$about") ;;
      *) closed+=("${'$'}{word//:/\\:}:$about") ;;
    esac
  done
  (( $#closed )) && _describe -t values edgewise closed
  (( $#open )) && _describe -t values edgewise open -S ''
  [[ -n $files ]] && _files
  return 0
}
if [[ $funcstack[1] == _edgewise ]]; then _edgewise "$@"; else compdef _edgewise edgewise; fi
`;

const FISH = String.raw`# Completion of edgewise for fish. Once: edgewise completion fish > ~/.config/fish/completions/edgewise.fish
function __edgewise_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $before[1] __complete -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else if not string match -q ':*' -- $line
            printf '%s\n' $line
        end
    end
end
complete -c edgewise -f -a '(__edgewise_complete)'
`;

/** The script of each shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
