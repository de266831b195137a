import type { CommandLine } from './command-line.ts';

/** Fish has one command, `complete`, for each option of a program. */
export function writeFishScript({ commands, places }: CommandLine): string {
  const known = commands.flatMap(({ names }) => (names.length === 0 ? [] : [quote(names.join(' '))]));
  const completions = commands.flatMap(({ names, commands: inner, options, operands }) => {
    const start = `complete -c edgewise -n ${quote(`__edgewise_at ${quote(names.join(' '))}`)}`;
    return [
      ...inner.map(({ word, about }) => `${start} -a ${quote(word)} -d ${quote(about)}`),
      ...options.map(({ long, short, about, value }) => {
        const names = `-l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`;
        const takes = value === undefined ? '' : ` -x -a '(__edgewise_place ${value})'`;
        return `${start} ${names} -d ${quote(about)}${takes}`;
      }),
      ...[...new Set(operands)].map((place) => `${start} -a '(__edgewise_place ${place} operand)'`),
    ];
  });
  const atPlaces = places.map(({ words, asked = '', files = '', separator = '' }, index) => {
    const listed = words.map(({ word, about }) => `${quote(word)}\\t${quote(about)}`);
    const members = [`set proposed ${listed.join(' ')}`, `set asked ${asked}`, `set files ${files}`];
    return `        case ${index}\n            ${[...members, `set separator ${separator}`].join('; ')}`;
  });
  return SCRIPT.replace('KNOWN', () => known.join(' '))
    .replace('        PLACES', () => atPlaces.join('\n'))
    .replace('COMPLETIONS', () => completions.join('\n'));
}

function quote(text: string): string {
  return `'${text.replace(/\s+/g, ' ').replace(/[\\']/g, '\\$&')}'`;
}

const SCRIPT = String.raw`# Completion of edgewise for fish. After each update: edgewise completion fish > ~/.config/fish/completions/edgewise.fish
function __edgewise_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join ' ' -- $at $word)
        contains -- "$next" KNOWN; or break
        set at $next
    end
    test "$at" = "$argv"
end
function __edgewise_files
    for path in "$argv[2]"*
        string match -q -- '-*' "$path"; and continue
        test -d "$path"; and set path "$path/"
        printf '%s\n' "$argv[1]$path"
    end
end
function __edgewise_place
    set -l proposed
    set -l asked
    set -l files
    set -l separator
    switch $argv[1]
        PLACES
    end
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    test "$argv[2]" = operand; or set typed (string replace -r -- '^--[\w-]+=' '' "$typed")
    if test "$files" = after; and string match -q -- '*=*' "$typed"
        __edgewise_files (string replace -r -- '=.*' '=' "$typed") (string replace -r -- '^[^=]*=' '' "$typed")
        return
    end
    test -n "$asked"; and set -a proposed (command $before[1] __complete $asked -- $before[2..-1] 2>/dev/null)
    test -n "$separator"; and set proposed (string match -er -- '^'(string escape --style=regex -- "$typed")"[^$separator\\t]*[$separator]?\\t" $proposed)
    test "$argv[2]" = operand; and set proposed (string match -rv -- '^(?:'(string escape --style=regex -- $before[2..-1] | string join '|')')\t' $proposed)
    printf '%s\n' $proposed
    test "$files" = here; and __edgewise_files '' "$typed"
end
complete -c edgewise -f
COMPLETIONS
`;
