/**
 * Parsers for the job logs of CI systems, written from their sources: `ActionCommand.cs` and `ActionCommandManager.cs` of actions/runner,
 * `Gitlab::Regex.build_trace_section_regex` of GitLab, `Command.cs` of the Azure Pipelines agent, `header_times_streamer.go` of the Buildkite
 * agent, the log viewer of travis-web, `ConsoleNote.java` of Jenkins, and the service messages of TeamCity and Octopus Deploy.
 */

/** A command in a line, as GitHub's runner reads it. */
export interface RunnerCommand {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
}

const REGISTERED: ReadonlySet<string> = new Set([
  ...['stop-commands', 'internal-set-repo-path', 'set-env', 'set-output', 'save-state', 'add-mask', 'add-path'],
  ...['add-matcher', 'remove-matcher', 'debug', 'warning', 'error', 'notice', 'group', 'endgroup', 'echo'],
]);

/** Lists the commands that GitHub's runner reads in an output. */
export function readCommands(printed: string): readonly RunnerCommand[] {
  return toLines(printed).flatMap((line) => parseLine(line) ?? []);
}

/** Lists the commands that the runner executes: none between `stop-commands` and its token. */
export function listObeyed(printed: string): readonly RunnerCommand[] {
  const obeyed: RunnerCommand[] = [];
  let token: string | undefined;
  for (const line of toLines(printed)) {
    const command = parseLine(line, token);
    if (command === undefined) continue;
    if (token !== undefined) token = command.name === token ? undefined : token;
    else if (command.name === 'stop-commands') token = command.data.toLowerCase();
    else obeyed.push(command);
  }
  return obeyed;
}

function toLines(printed: string): readonly string[] {
  return printed.split(/\r\n|\r|\n/);
}

/** The token that ends `stop-commands` is a command too. */
function parseLine(line: string, token?: string): RunnerCommand | undefined {
  return parseV2(line, token) ?? parseV1(line, token);
}

/** .NET trims the white space of JavaScript without the byte order mark, and U+0085. */
const LEADING_SPACE = /^(?:(?!\ufeff)\s|\u0085)+/;

function parseV2(line: string, token: string | undefined): RunnerCommand | undefined {
  const message = line.replace(LEADING_SPACE, '');
  const end = message.indexOf('::', 2);
  if (!message.startsWith('::') || end < 0) return undefined;
  return toCommand(message.slice(2, end), message.slice(end + 2), { between: ',', decode: unescapeV2, token });
}

function parseV1(line: string, token: string | undefined): RunnerCommand | undefined {
  const start = line.indexOf('##[');
  const end = line.indexOf(']', start);
  if (start < 0 || end < 0) return undefined;
  return toCommand(line.slice(start + 3, end), line.slice(end + 1), { between: ';', decode: unescapeV1, token });
}

function toCommand(
  info: string,
  data: string,
  {
    between,
    decode,
    token,
  }: { readonly between: string; readonly decode: (text: string) => string; readonly token: string | undefined },
): RunnerCommand | undefined {
  const space = info.indexOf(' ');
  const name = (space < 0 ? info : info.slice(0, space)).toLowerCase();
  if (!REGISTERED.has(name) && name !== token) return undefined;
  const pairs =
    space < 0
      ? []
      : info
          .slice(space + 1)
          .trim()
          .split(between);
  const properties = pairs.flatMap((pair) => {
    const [key = '', value] = [
      pair.split('=', 1)[0],
      pair.includes('=') ? pair.slice(pair.indexOf('=') + 1) : undefined,
    ];
    return key === '' || value === undefined || value === '' ? [] : [[key, unescapeProperty(decode(value))] as const];
  });
  return { name, properties: Object.fromEntries(properties), data: decode(data) };
}

function unescapeV2(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

function unescapeProperty(text: string): string {
  return text.replaceAll('%3A', ':').replaceAll('%2C', ',');
}

function unescapeV1(text: string): string {
  return unescapeV2(text.replaceAll('%3B', ';').replaceAll('%5D', ']'));
}

/** Lists the sections that GitLab reads in an output. */
export function readSections(printed: string): readonly string[] {
  const options = '(\\[(?:\\w+=\\w+)(?:, ?(?:\\w+=\\w+))*\\])?';
  const section = new RegExp(`section_((?:start)|(?:end)):(\\d+):([a-zA-Z0-9_.-]+)${options}\r\u001b\\[0K`, 'g');
  return printed.match(section) ?? [];
}

/** Lists the lines on which other CI systems would act. */
export function readOtherCommands(printed: string): readonly string[] {
  const lines = toLines(printed);
  return [
    ...lines.filter(isAzureCommand),
    ...lines.filter(isBuildkiteHeading),
    ...(printed.match(/##(?:teamcity|octopus)\[/g) ?? []),
    ...(printed.match(/travis_(?:fold|time):(?:start|end):?.*/g) ?? []),
    ...(printed.includes('\u001b[8mha:') ? ['a note of Jenkins'] : []),
  ];
}

function isAzureCommand(line: string): boolean {
  const start = line.indexOf('##vso[');
  const end = line.indexOf(']', start);
  if (start < 0 || end < 0) return false;
  const [name = ''] = line.slice(start + '##vso['.length, end).split(' ');
  return name.split('.').filter((part) => part !== '').length === 2;
}

function isBuildkiteHeading(line: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the agent removes colours first
  const shown = line.replace(/\u001b\[(?:[;\d]+)?[mK]/g, '');
  return /^(?:---|\+\+\+|~~~)\s(?:.+)?$/.test(shown) || /^\^\^\^\s+\+\+\+\s*$/.test(shown);
}
