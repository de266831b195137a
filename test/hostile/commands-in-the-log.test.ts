import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createJobCommandEscaper, escapeJobCommands } from '../../src/model/job-commands.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { selectEvenly, toTries } from '../tries.ts';
import { readCommands, readOtherCommands, readSections } from './runner.ts';

const COMMANDS = [
  '##[add-mask]true',
  '##[ADD-MASK]e',
  'a ##[set-env name=PATH;]/tmp',
  '###[[##[error]x',
  '::add-mask::e',
  '::set-output name=plan,::x',
  '\u00a0\u3000::Stop-Commands::x',
  'x\r::add-mask::e',
  'x\n\t\u2003::add-mask::e',
  'x%0A::add-mask::e%0D%250A##[add-mask]f',
  'x\u0085::add-mask::e',
  'x\u2028::add-mask::e',
  'section_start:1:name[collapsed=true]\r\u001b[0Kx',
  'x\nsection_end:1:name\r\u001b[0K',
  'x ##vso[task.setvariable variable=PATH]/tmp',
  'x\n##vso[task.prependpath]/tmp',
  "x\n##teamcity[buildStatus status='SUCCESS']",
  "##octopus[setVariable name='a' value='b']",
  'travis_fold:start:x\r\u001b[0K',
  'travis_time:end:0:start=1,finish=2,duration=1',
  '--- x',
  'x\n+++ \u00a0x',
  'x\r~~~\tx',
  'x\n^^^ +++\n',
  '\u001b[31m-\u001b[0m-- x',
  '\u001b[8mha:////4AAA=\u001b[0m',
] as const;

/** Every text that others choose in a manifest and at the service. */
function toFiles(text: string): Readonly<Record<string, string>> {
  const key = text.slice(0, 40);
  const folder = `live/n${text.slice(0, 60).replaceAll('/', '_')}`;
  return {
    [`${folder}/edgewise.yaml`]: STACK,
    [`${folder}/edge.yaml`]: toManifest('TCPEdge', 'a', { description: text, hostports: ['1.tcp.example.net:20001'] }),
    'out/.git/HEAD': '', // a checkout of its own, so that an export belongs to no stack
    'edgewise.yaml': STACK,
    'edge.yaml': toManifest('TCPEdge', 'a', {
      description: text,
      metadata: { [key]: text },
      hostports: ['1.tcp.example.net:20001'],
    }),
    'live/.git/HEAD': '', // a checkout of its own, because its stack has the same name
    'other.yaml': toManifest('TCPEdge', 'a', { description: `${text} else`, metadata: { [`${key}2`]: text } }),
    'broken.yaml': toManifest('TCPEdge', 'b', { description: text, [key]: text, hostports: [text] }),
  };
}

const FORMATS = ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'];

/** Lists the commands in an output, except the annotations of `--format github`. */
function findOthers(printed: string, format: string): unknown {
  const others = readCommands(printed).filter(
    ({ name, properties }) =>
      !/^(?:file )?github$/.test(format) ||
      !['error', 'warning', 'notice'].includes(name) ||
      !properties['title']?.startsWith('edgewise'),
  );
  return [...others, ...readSections(printed), ...readOtherCommands(printed)];
}

interface Shown {
  readonly format: string;
  readonly printed: string;
}

/** Runs commands in every format. Returns their outputs, and the files that they write. No variable of a job is set. */
async function listShownTexts(text: string): Promise<readonly Shown[]> {
  const workspace = await createWorkspace(toFiles(text));
  const shown: Shown[] = [];
  const run = async (line: string, format = line) => {
    const { stdout, stderr } = await workspace.edgewise(line);
    shown.push({ format, printed: stdout }, { format: `stderr of ${line}`, printed: stderr });
  };
  const lines = [
    'plan edgewise.yaml edge.yaml --verbose --out out/plan',
    'apply edgewise.yaml edge.yaml --yes',
    'drift edgewise.yaml other.yaml',
    'apply edgewise.yaml other.yaml --yes',
    'plan edgewise.yaml edge.yaml broken.yaml',
    'validate edgewise.yaml broken.yaml',
    'plan -R live --out out/plans',
    'apply -R live --yes',
    'drift -R live',
  ];
  for (const format of FORMATS)
    for (const [index, line] of lines.entries())
      await run(`${line} --format ${format} --report ${format}=out/${index}.${format}`, format);
  for (const line of [
    'drift edgewise.yaml other.yaml --report metrics=out/drift.prom',
    'drift -R live --report metrics=out/stacks.prom',
    'get edgewise.yaml edge.yaml',
    'get edgewise.yaml edge.yaml --format yaml',
    'get edgewise.yaml edge.yaml --format json',
    'get TCPEdge/a edgewise.yaml edge.yaml --format value=description',
    'stacks live',
    'stacks live --format folder',
    'stacks live --format json',
    'stacks live --format gitlab',
    'export --owner test',
    'export --owner test -o out/export',
    `explain ${text}`,
  ])
    await run(line);
  return [...shown, ...(await readFiles(join(workspace.folder, 'out')))];
}

async function readFiles(folder: string): Promise<readonly Shown[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => ({
        format: name.replace(/.*[.]/, 'file '),
        printed: await readFile(join(parentPath, name), 'utf8'),
      })),
  );
}

describe('a text with a command to the runner of a job', () => {
  // Every text goes through the escaper below, and a quarter of them through each format of each command line.
  it.each(selectEvenly(COMMANDS))('produces no command in the log, in any format: %j', async (text) => {
    for (const { format, printed } of await listShownTexts(text))
      expect(findOthers(printed, format), `${format}\n${printed}`).toEqual([]);
  });

  it('is shown escaped, on each output and in each file', async () => {
    const shown = (await listShownTexts('x ##vso[task.a]y')).filter(({ printed }) =>
      printed.includes('x ##vso\\u005btask.a]y'),
    );
    const formats = shown.map(({ format }) => format);
    const expected = ['stacks live', 'stacks live --format folder', 'export --owner test', 'plan', 'file yaml'];
    expect(formats).toEqual(
      expect.arrayContaining([...expected, ...FORMATS, ...FORMATS.map((name) => `file ${name}`)]),
    );
  });

  it('produces no command, whatever its characters', async () => {
    const part = fc.oneof(
      fc.constantFrom(...COMMANDS),
      fc.constantFrom(':', '::', '#', '##', '[', ' ', '\n', '\r', 'error', ']'),
    );
    const texts = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('').slice(0, 200));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const { format, printed } of await listShownTexts(text))
          expect(findOthers(printed, format), printed).toEqual([]);
      }),
      { numRuns: toTries(12) },
    );
  });

  it('leaves the annotations of edgewise unchanged', async () => {
    const { edgewise } = await createWorkspace(toFiles('a text'));
    const { stdout } = await edgewise('validate edgewise.yaml broken.yaml --format github');
    expect(stdout).not.toContain('\\u00');
    expect(readCommands(stdout).map(({ name }) => name)).toContain('error');
  });
});

/** Lists every string in a document, with the names of members. */
function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...listTexts(member)]);
}

describe('a program that decodes an output', () => {
  it.each(COMMANDS)('reads the text of the manifest: %j', async (text) => {
    const { edgewise, folder } = await createWorkspace(toFiles(text));
    const key = text.slice(0, 40);
    const read = async (name: string) => readFile(join(folder, name), 'utf8');
    const print = async (line: string) => (await edgewise(line)).stdout;
    const plan = await print('plan edgewise.yaml edge.yaml --format json --out plan');
    await edgewise('apply edgewise.yaml edge.yaml --yes');
    const documents = {
      plan: JSON.parse(plan),
      'plan file': JSON.parse(await read('plan')),
      'get json': JSON.parse(await print('get TCPEdge/a edgewise.yaml edge.yaml --format json')),
      'get yaml': parseAllDocuments(await print('get TCPEdge/a edgewise.yaml edge.yaml --format yaml')).map((one) =>
        one.toJS(),
      ),
      export: parseAllDocuments(await print('export --owner test')).map((one) => one.toJS()),
    };
    for (const [name, document] of Object.entries(documents)) {
      // The service stores metadata as JSON in a string.
      const texts = listTexts(document).flatMap((one) => (one.startsWith('{') ? listTexts(JSON.parse(one)) : one));
      expect(texts, name).toContain(text);
      expect(texts, name).toContain(key);
    }
  });
});

/** An escape sequence, which is escaped before this test. */
const NOTE = '\u001b[8mha:';

describe('a line that is written in pieces', () => {
  const part = fc.constantFrom(
    ...COMMANDS,
    ...':#[] \n\r\t-+~^',
    '\u001b[0m',
    '##vso',
    'task.a]',
    'travis_fold',
    ':start:',
    '::',
    '##',
    'section_',
    'start',
    ':1:n\r\u001b[0K',
    'group',
  );

  it('contains no command, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const filter = createJobCommandEscaper();
        const printed = parts.map(filter).join('');
        expect(readCommands(printed)).toEqual([]);
        expect(readSections(printed)).toEqual([]);
        expect(readOtherCommands(printed.replaceAll(NOTE, ''))).toEqual([]);
      }),
      { numRuns: toTries(3000) },
    );
  });

  it('contains no command if another stream writes in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 12 }), (parts) => {
        const [first, second] = [createJobCommandEscaper(), createJobCommandEscaper()];
        const printed = parts.map(([text, isFirst]) => (isFirst ? first : second)(`${text}\n`)).join('');
        expect(readCommands(printed)).toEqual([]);
        expect(readOtherCommands(printed.replaceAll(NOTE, ''))).toEqual([]);
      }),
      { numRuns: toTries(3000) },
    );
  });

  it('is changed once, and nowhere else', () => {
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join('')),
        (text) => {
          const once = escapeJobCommands(text);
          expect(escapeJobCommands(once)).toBe(once);
          expect(once.replaceAll(/\\u(00[0-9a-f]{2})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)))).toBe(
            text,
          );
        },
      ),
      { numRuns: toTries(1000) },
    );
  });
});
