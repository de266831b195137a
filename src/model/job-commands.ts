import { toPrintable } from './printable.ts';

/**
 * CI systems read the log of a job, and execute what looks like a command in it:
 *
 * | System | Command | Where | Source |
 * | --- | --- | --- | --- |
 * | Azure Pipelines | `##vso[…]`, `##[…]` | anywhere in a line | `Command.cs` of the agent |
 * | GitHub, Gitea, Forgejo | `::name …::…` | line start, after white space | `ActionCommand.cs` of actions/runner |
 * | | `##[name …]` | anywhere in a line | the same |
 * | TeamCity | `##teamcity[…]` | anywhere in a line | "Service Messages" |
 * | Octopus Deploy | `##octopus[…]` | anywhere in a line | "Service messages" |
 * | GitLab | `section_start:…`, `section_end:…` | anywhere, before a carriage return | `Gitlab::Regex` |
 * | Travis | `travis_fold:…`, `travis_time:…` | anywhere | the log viewer of travis-web |
 * | Buildkite | `--- …`, `+++ …`, `~~~ …`, `^^^ +++` | line start, after colours | `header_times_streamer.go` |
 * | Jenkins and its plugins, Drone | escape sequences, such as `ESC[8mha:` | anywhere | `ConsoleNote.java` |
 *
 * Any output may be such a log, and any file may be printed into one. Output contains text from manifests and from the
 * service. So one character of each command is written as a JSON escape, wherever the output goes: no system has to be
 * recognised. Inside strings of JSON and in double quotes of YAML, the value stays the same; elsewhere the escape is
 * visible. Control characters, and so escape sequences, are escaped before by `toPrintable`.
 */

/** Matches `##`, a word, `[`. Not only known words, because a new system may have another one. */
const BRACKETED = /(##\w*)\[/g;

const NAMED = /((?:section_(?:start|end)|travis_(?:fold|time))):/g;

/** Matches white space within a line, as GitHub's runner defines it. */
const SPACE = '(?:[^\\S\\r\\n]|\\u0085)*';

/** Matches the start of a line with a command in colons. Such a command ends with two more colons on the same line. */
const COLONS = new RegExp(`(^|[\\r\\n])(${SPACE}:):(?=[^\\r\\n]*::)`, 'g');

/** Matches colours. Buildkite removes them before it looks for a heading. */
const COLOR = '(?:\\u001b\\[[\\d;]*[mK])*';

/** Matches a line that starts with three signs, such as `---`, and the white space after them. */
const HEADING = new RegExp(
  `(^|[\\r\\n])(${COLOR}(?:(?:-${COLOR}){3}|(?:\\+${COLOR}){3}|(?:~${COLOR}){3}))([^\\S\\n])`,
  'g',
);
const EXPANSION = new RegExp(
  `(^|[\\r\\n])(${COLOR}(?:\\^${COLOR}){3}(?:[^\\S\\r\\n]${COLOR})+(?:\\+${COLOR}){2})\\+`,
  'g',
);

/** Escapes the commands that a CI system would find if each line of the text were a line of a log. Idempotent. */
export function escapeJobCommands(text: string): string {
  return text
    .replace(BRACKETED, '$1\\u005b')
    .replace(NAMED, '$1\\u003a')
    .replace(COLONS, '$1$2\\u003a')
    .replace(HEADING, (_, start: string, sign: string, space: string) => `${start}${sign}${escapeCharacter(space)}`)
    .replace(EXPANSION, '$1$2\\u002b');
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns a JSON document in which a terminal and a CI system find nothing to act on. Its values stay the same, because
 * only characters in strings are escaped.
 */
export function toHarmlessJson(json: string): string {
  return escapeJobCommands(json.split('\n').map(toPrintable).join('\n'));
}

/** Whether a text contains a command, at whatever position of a line it is printed. */
export function hasJobCommand(text: string): boolean {
  return escapeJobCommands(text) !== text;
}

/** Matches an unfinished line that text which follows may turn into a command at its start. */
const MAYBE_COMMAND = new RegExp(
  `^(?:${SPACE}:?|${COLOR}(?:(?:-${COLOR}){0,3}|(?:\\+${COLOR}){0,3}|(?:~${COLOR}){0,3}|(?:\\^${COLOR}){0,3}|(?:\\^${COLOR}){3}(?:[^\\S\\r\\n]${COLOR})+(?:\\+${COLOR}){0,2}))$`,
);
const MAYBE_COLONS = new RegExp(`(^|[\\r\\n])(${SPACE}:):(?=[^\\r\\n]*$)`);

/** How many characters of an unfinished line are kept until more text arrives: enough for the start of any command. */
const KEPT_LENGTH = 1000;

/** Returns a function that escapes job commands in a text, part by part, even if a command is split between parts. */
export function createJobCommandEscaper(): (part: string) => string {
  let before = '';
  // A line in colons may end in a later part, so its start is escaped in any case.
  const escapePart = (text: string): string => escapeJobCommands(text).replace(MAYBE_COLONS, '$1$2\\u003a');
  return (part) => {
    // Treat each part as the start of a line too, because another stream may write a line break between two parts.
    const alone = escapePart(part);
    const whole = escapePart(before + alone);
    const unfinished = (before + alone).split(/[\r\n]/).at(-1) ?? '';
    const shown = whole.slice(before.length);
    before = MAYBE_COMMAND.test(unfinished)
      ? `\n${unfinished}`.slice(-KEPT_LENGTH)
      : `x${unfinished.slice(-KEPT_LENGTH)}`;
    return shown;
  };
}
