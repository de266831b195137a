import type { CommandLine } from './command-line.ts';

/**
 * Bash knows no options of a program, so the script looks at each word before the current one. Bash splits words at `=`
 * and `:`, and a candidate replaces only the last part: the script removes the preceding parts from each candidate.
 * Bash inserts a candidate as it is, so the script quotes it. Words on the command line may have backslashes, which
 * `read` removes without running anything; in a word with quotes, bash completes only paths. The script works with bash
 * 3.2, which has no `compopt`.
 */
export function writeBashScript({ commands, places }: CommandLine): string {
  const atCommands = commands.map(({ names, commands: inner, options, operands, isVariadic }) => {
    const optionWords = options.flatMap(({ long, short, isRepeated, value = '' }) =>
      [long, ...(short === undefined ? [] : [short])].map((name) => `${name}=${value}${isRepeated ? '+' : ''}`),
    );
    const members = [
      `commands='${inner.map(({ word }) => word).join(' ')}'`,
      `options=' ${optionWords.join(' ')} '`,
      `operands='${operands.join(' ')}${isVariadic ? '+' : ''}'`,
    ];
    return `    '${names.join(' ')}') ${members.join(' ')} ;;`;
  });
  const atPlaces = places.map(({ words, asked = '', files = '', separator = '' }, index) => {
    const members = [`asked=${asked}`, `files=${files}`, `separator=${separator}`];
    return `    ${index}) proposed='${words.map(({ word }) => word).join(' ')}' ${members.join(' ')} ;;`;
  });
  return SCRIPT.replace('    COMMANDS', () => atCommands.join('\n')).replace('    PLACES', () => atPlaces.join('\n'));
}

/** An option is `NAME=PLACE`, with a `+` if it, or an operand, can be repeated. */
const SCRIPT = String.raw`# Completion of edgewise for bash. In ~/.bashrc: source <(edgewise completion bash)
_edgewise_at_command() {
  case $1 in
    COMMANDS
  esac
}
_edgewise_at_place() {
  case $1 in
    PLACES
  esac
}
_edgewise_find_value() {
  local rest=${'$'}{options#*" $1="}
  value=
  [[ $rest == "$options" ]] || value=${'$'}{rest%% *}
  value=${'$'}{value%+}
}
_edgewise_propose() {
  local word=${'$'}{1#"$lead"}
  printf -v word %q "$word"
  COMPREPLY+=("$word")
}
_edgewise() {
  local IFS=$' \t\n' i word joined= command= commands= options= operands= value= literal= used=' ' count=0
  local proposed= asked= files= separator= before= operand= line
  local -a typed=() places=()
  local cur=${'$'}{COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  compopt -o default 2>/dev/null
  [[ $cur == *[\'\"]* ]] && return
  for ((i = 1; i <= COMP_CWORD; i++)); do
    IFS= read word <<< "${'$'}{COMP_WORDS[i]}"
    if ((${'$'}{#typed[@]} > 0)) && [[ $joined || $word == [=:]* ]]; then
      typed[${'$'}{#typed[@]} - 1]+=$word
    else
      typed+=("$word")
    fi
    joined=
    [[ $word == [=:]* ]] && joined=1
  done
  local last=$((${'$'}{#typed[@]} - 1))
  local start=${'$'}{typed[last]}
  [[ $cur == [=:]* ]] && cur=
  IFS= read cur <<< "$cur"
  local lead=${'$'}{start%"$cur"}
  _edgewise_at_command ''
  for ((i = 0; i < last; i++)); do
    word=${'$'}{typed[i]}
    if [[ $value ]]; then
      value=
    elif [[ $literal || $word != -?* ]]; then
      if [[ ! $literal && $count == 0 && " $commands " == *" $word "* ]]; then
        command+=${'$'}{command:+ }$word
        _edgewise_at_command "$command"
      else
        used+="$word "
        count=$((count + 1))
      fi
    elif [[ $word == -- ]]; then
      literal=1
    else
      used+="${'$'}{word%%=*} "
      [[ $word == *=* ]] || _edgewise_find_value "$word"
    fi
  done
  if [[ ! $value && ! $literal && $start == -* ]]; then
    if [[ $start == *=* ]]; then
      _edgewise_find_value "${'$'}{start%%=*}"
      before=${'$'}{start%%=*}= start=${'$'}{start#*=}
      [[ $value ]] || start=-
    else
      for word in $options; do
        [[ $word == --* ]] && [[ $word == *+ || $used != *" ${'$'}{word%%=*} "* ]] && proposed+="${'$'}{word%%=*} "
      done
    fi
  elif [[ ! $value ]]; then
    operand=1
    places=($operands)
    if ((count < ${'$'}{#places[@]})); then
      value=${'$'}{places[count]}
    elif [[ $operands == *+ ]]; then
      value=${'$'}{operands##* }
    fi
    value=${'$'}{value%+}
  fi
  [[ $value ]] && _edgewise_at_place "$value"
  [[ $operand && ! $literal && $count == 0 ]] && proposed="$commands $proposed"
  if [[ $files == after && $start == *=* ]]; then
    before+=${'$'}{start%%=*}= start=${'$'}{start#*=} proposed= files=here
  fi
  for word in $proposed; do
    [[ $word == "$start"* ]] || continue
    [[ $separator && ${'$'}{word#"$start"} == *"$separator"?* ]] && continue
    [[ $operand && $word != "$start" && $used == *" $word "* ]] && continue
    _edgewise_propose "$before$word"
  done
  if [[ $asked ]]; then
    while IFS=$'\t' read -r word line; do
      [[ $word != "$start"* || ($operand && $word != "$start" && $used == *" $word "*) ]] || _edgewise_propose "$before$word"
    done < <("$1" __complete "$asked" -- "${'$'}{typed[@]:0:last}" 2>/dev/null)
  fi
  [[ $files == here && ${'$'}{#COMPREPLY[@]} -eq 0 && $start && $start == "$cur" ]] && return
  compopt +o default 2>/dev/null
  if [[ $files == here ]]; then
    while IFS= read -r line; do
      [[ $line == -* ]] && continue
      [[ -d $line ]] && line+=/
      _edgewise_propose "$before$line"
    done < <(compgen -f -- "$start")
  fi
  if ((${'$'}{#COMPREPLY[@]} == 1)) && [[ ${'$'}{COMPREPLY[0]} == *[=/:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _edgewise edgewise
`;
