import { isJsonObject, type Json, parseJson } from '../model/json.ts';

/**
 * Finds `prevent_destroy` in the configuration of Terraform, because no state and no plan contains it. Reads only the
 * structure of blocks, never the value of another argument.
 */

/** A configuration file. */
export interface ConfigurationFile {
  /** The name without folders. Decides the syntax, and whether the file overrides others. */
  readonly name: string;
  /** `undefined`: the file cannot be read. */
  readonly text: string | undefined;
}

/** `prevent_destroy` in the files of one module. */
export interface PreventDestroy {
  /** Resources that have it, as `type.name`. */
  readonly resources: ReadonlySet<string>;
  /** Names of files that cannot be read, or whose blocks do not match. */
  readonly unreadable: readonly string[];
}

/** The names of configuration files: those of Terraform, and those of OpenTofu. */
export function isConfigurationFile(name: string): boolean {
  return /^[^.].*\.(?:tf|tofu)(?:\.json)?$/.test(name);
}

/** Finds the resources of one module that have `prevent_destroy`. Files that override others are read last. */
export function findPreventDestroy(files: readonly ConfigurationFile[]): PreventDestroy {
  const ordered = files.toSorted((left, right) => (getRank(left) < getRank(right) ? -1 : 1));
  const found = ordered.map(({ name, text }) => ({
    name,
    settings: text === undefined ? undefined : readModuleSettings(name, text.replace(/^\ufeff/, '')),
  }));
  const settings = new Map(found.flatMap((one) => [...(one.settings ?? [])]));
  return {
    resources: new Set([...settings].filter(([, isSet]) => isSet).map(([resource]) => resource)),
    unreadable: found.filter((one) => one.settings === undefined).map(({ name }) => name),
  };
}

function getRank({ name }: ConfigurationFile): string {
  return `${/(?:^|_)override\.(?:tf|tofu)(?:\.json)?$/.test(name) ? 1 : 0} ${name}`;
}

/** By resource, whether `prevent_destroy` is set. `undefined`: the file cannot be read. */
type Settings = ReadonlyMap<string, boolean> | undefined;

/** An expression counts as set, because a resource that is protected by mistake loses nothing. */
const isSet = (value: Json | undefined): boolean => value !== false && value !== 'false';

function readModuleSettings(name: string, text: string): Settings {
  return name.endsWith('.json') ? readJsonSyntax(text) : readNativeSyntax(text);
}

function readJsonSyntax(text: string): Settings {
  const document = parseJson(text);
  if (!isJsonObject(document)) return undefined;
  const settings = listConfigurationBlocks(document['resource']).flatMap((types) =>
    Object.entries(types).flatMap(([type, named]) =>
      listConfigurationBlocks(named).flatMap((resources) =>
        Object.entries(resources).flatMap(([name, bodies]) =>
          listConfigurationBlocks(bodies)
            .flatMap((body) => listConfigurationBlocks(body['lifecycle']))
            .filter((lifecycle) => 'prevent_destroy' in lifecycle)
            .map((lifecycle) => [`${type}.${name}`, isSet(lifecycle['prevent_destroy'])] as const),
        ),
      ),
    ),
  );
  return new Map(settings);
}

/** In the JSON syntax, a block may be written as one object or as a list of objects. */
function listConfigurationBlocks(value: Json | undefined): readonly { readonly [key: string]: Json }[] {
  return [value].flat().filter(isJsonObject);
}

function readNativeSyntax(text: string): Settings {
  const settings = new Map<string, boolean>();
  const open: (readonly string[])[] = [];
  let statement: string[] = [];
  for (const token of listTokens(text)) {
    if (token === undefined) return undefined;
    if (token !== '{' && token !== '}' && token !== '\n') {
      statement.push(token);
      continue;
    }
    const resource = findLifecycle(open);
    const [argument, equals, ...value] = statement;
    if (resource !== undefined && argument === 'prevent_destroy' && equals === '=')
      settings.set(resource, isSet(value.join(' ')));
    if (token === '{') open.push(statement);
    if (token === '}' && open.pop() === undefined) return undefined;
    statement = [];
  }
  return open.length === 0 ? settings : undefined;
}

/** The `type.name` of the resource if `open` is its `lifecycle` block. */
function findLifecycle(open: readonly (readonly string[])[]): string | undefined {
  const [resource = [], lifecycle = []] = open;
  const [block, type, name] = resource;
  if (open.length !== 2 || lifecycle.length !== 1 || lifecycle[0] !== 'lifecycle') return undefined;
  if (resource.length !== 3 || block !== 'resource' || type === undefined || name === undefined) return undefined;
  return [type, name].map((label) => label.replace(/^"|"$/g, '')).join('.');
}

/** One token, or a part that has no meaning for blocks: spaces, a comment, an operator. */
const PART =
  /(?<token>[\w-]+|[{}=\n])|(?<quote>")|<<-?(?<heredoc>[\w-]+)[ \t]*\r?\n|(?:#|\/\/).*|(?<comment>\/\*)|[^\S\n]+|./uy;

/**
 * Lists words, texts in quotes, braces, equal signs and line ends. `undefined` stands for a text or a comment without
 * an end, and is the last.
 */
function* listTokens(text: string): Generator<string | undefined> {
  for (let at = 0; at < text.length; ) {
    PART.lastIndex = at;
    const { token, quote, heredoc, comment } = PART.exec(text)?.groups ?? {};
    const start = at;
    at = PART.lastIndex;
    if (token !== undefined) yield token;
    if (quote === undefined && heredoc === undefined && comment === undefined) continue;
    const end =
      quote !== undefined
        ? findTextEnd(text, at)
        : heredoc !== undefined
          ? findHeredocEnd(text, at, heredoc)
          : findEndOfPart(text, '*/', at);
    if (end === undefined || quote !== undefined) yield end === undefined ? undefined : text.slice(start, end);
    at = end ?? text.length;
  }
}

/** Returns the position after the next `part`. */
function findEndOfPart(text: string, part: string, at: number): number | undefined {
  const found = text.indexOf(part, at);
  return found === -1 ? undefined : found + part.length;
}

/** Returns the position after the line that ends a heredoc, before its line end. */
function findHeredocEnd(text: string, at: number, word: string): number | undefined {
  for (let start = at; start <= text.length; ) {
    const end = (findEndOfPart(text, '\n', start) ?? text.length + 1) - 1;
    if (text.slice(start, end).trim() === word) return end;
    start = end + 1;
  }
  return undefined;
}

/** What has a meaning in a text: escapes, which stand for themselves, the start of a template, and the end. */
const IN_TEXT = /\\[\s\S]|\$\$|%%|[$%]\{|["\n]/g;

/** What has a meaning in a template. */
const IN_TEMPLATE = /[{}"]/g;

/** Returns the position after the quote that ends a text. A template in it, `${…}`, may contain braces and texts. */
function findTextEnd(text: string, at: number): number | undefined {
  const ends = ['"'];
  for (let index = at; ; ) {
    const pattern = ends.at(-1) === '"' ? IN_TEXT : IN_TEMPLATE;
    pattern.lastIndex = index;
    const [part] = pattern.exec(text) ?? [];
    if (part === undefined || part === '\n') return undefined;
    index = pattern.lastIndex;
    if (part === ends.at(-1)) ends.pop();
    else if (part === '"') ends.push('"');
    else if (/^[$%]?\{$/.test(part)) ends.push('}');
    if (ends.length === 0) return index;
  }
}
