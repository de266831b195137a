import type { CommandLine, CompletedOption } from './command-line.ts';

/** Zsh has `_arguments`, which knows the options and operands of a program. */
export function writeZshScript({ commands, places }: CommandLine): string {
  const known = commands.flatMap(({ names }) => (names.length === 0 ? [] : [quote(names.join(' '))]));
  const atCommands = commands.map(({ names, commands: inner, options, operands, isVariadic }) => {
    const specs = [
      ...options.flatMap(createOptionSpecs),
      ...(inner.length === 0 ? [] : ['1: : _edgewise_commands']),
      ...operands.map((place, at) => {
        const position = isVariadic && at === operands.length - 1 ? '*' : String(at + 1);
        return `${position}: : _edgewise_place ${place} operand`;
      }),
    ];
    const listed = inner.flatMap(({ word, about }) => [word, about]).map(quote);
    const lines = [`commands=(${listed.join(' ')})`, `_arguments -S ${specs.map(quote).join(' ')}`];
    return `    ${quote(names.join(' '))}) ${lines.join('; ')} ;;`;
  });
  const atPlaces = places.map(({ words, asked = '', files = '', separator = '' }, index) => {
    const listed = words.flatMap(({ word, about }) => [word, about]).map(quote);
    return `    ${index}) proposed=(${listed.join(' ')}) asked=${asked} files=${files} separator=${quote(separator)} ;;`;
  });
  return SCRIPT.replace('KNOWN', () => known.join(' '))
    .replace('    COMMANDS', () => atCommands.join('\n'))
    .replace('    PLACES', () => atPlaces.join('\n'));
}

function createOptionSpecs({ long, short, about, isRepeated, value }: CompletedOption): readonly string[] {
  const names = short === undefined ? [long] : [long, short];
  const others = isRepeated ? '*' : `(${names.join(' ')})`;
  const said = about.replace(/\s+/g, ' ').replace(/[\\[\]:]/g, '\\$&');
  return names.map((name) => {
    if (value === undefined) return `${others}${name}[${said}]`;
    return `${others}${name}${name === long ? '=' : ''}[${said}]: : _edgewise_place ${value}`;
  });
}

function quote(text: string): string {
  return `'${text.replace(/\s+/g, ' ').replaceAll("'", `'\\''`)}'`;
}

const SCRIPT = String.raw`#compdef edgewise
# Completion of edgewise for zsh. In ~/.zshrc, after compinit: source <(edgewise completion zsh)
_edgewise_place() {
  local asked files separator line operand=$2
  local -a proposed
  case $1 in
    PLACES
  esac
  if [[ $files == after ]] && compset -P '*='; then
    files=here proposed=()
  fi
  if [[ -n $asked ]]; then
    for line in "${'$'}{(@f)$("$program" __complete $asked -- "${'$'}{before[@]}" 2>/dev/null)}"; do
      proposed+=("${'$'}{line%%$'\t'*}" "${'$'}{line#*$'\t'}")
    done
  fi
  _edgewise_propose "${'$'}{proposed[@]}"
  [[ $files == here ]] && _files -F '(-*)'
  return 0
}
_edgewise_commands() {
  _edgewise_propose "${'$'}{commands[@]}"
}
_edgewise_propose() {
  local word about
  local -a closed open
  for word about in "$@"; do
    [[ -z $word || ( -n $separator && ${'$'}{word#"$PREFIX"} == *"$separator"?* ) ]] && continue
    [[ -n $operand ]] && (( $before[(Ie)$word] )) && continue
    about="${'$'}{${'$'}{word//\\/\\\\}//:/\\:}:$about"
    case $word in
      *[=/:]) open+=("$about") ;;
      *) closed+=("$about") ;;
    esac
  done
  (( $#closed )) && _describe -t values edgewise closed
  (( $#open )) && _describe -t values edgewise open -S ''
}
_edgewise_at() {
  local -a commands
  case $1 in
    COMMANDS
  esac
}
_edgewise() {
  local program=$words[1] at= separator= operand=
  local -a known before
  known=(KNOWN)
  before=("${'$'}{(@Q)words[2,CURRENT-1]}")
  while (( CURRENT > 2 && $known[(Ie)${'$'}{at:+$at }$words[2]] )); do
    at+=${'$'}{at:+ }$words[2]
    shift words
    (( CURRENT-- ))
  done
  _edgewise_at "$at"
}
if [[ $funcstack[1] == _edgewise ]]; then _edgewise "$@"; else compdef _edgewise edgewise; fi
`;
