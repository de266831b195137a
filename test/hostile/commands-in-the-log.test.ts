import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJobCommandEscaper, escapeJobCommands } from '../../src/model/pipeline.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { toTries } from '../tries.ts';
import { readCommands, readSections } from './runner.ts';

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
] as const;

/** Everything that others choose in a manifest and at the service. */
function toFiles(text: string): Readonly<Record<string, string>> {
  const key = `${text.slice(0, 40)}`;
  return {
    'edgewise.yaml': STACK,
    'edge.yaml': toManifest('TCPEdge', 'a', {
      description: text,
      metadata: { [key]: text },
      hostports: ['1.tcp.example.net:20001'],
    }),
    'broken.yaml': toManifest('TCPEdge', 'b', { description: text, [key]: text, hostports: [text] }),
  };
}

const FORMATS = ['text', 'json', 'json-lines', 'markdown', 'html', 'github', 'sarif', 'junit'];
/** The last is a container that a job starts: it is not told of the job. */
const JOBS = [{ GITHUB_ACTIONS: 'true' }, { GITLAB_CI: 'true' }, {}];

/** Commands besides the annotations of `--format github`. */
function findOthers(printed: string, format: string): unknown {
  const others = readCommands(printed).filter(
    ({ name, properties }) =>
      format !== 'github' ||
      !['error', 'warning', 'notice'].includes(name) ||
      !properties['title']?.startsWith('edgewise'),
  );
  return [...others, ...readSections(printed)];
}

/** What a job shows of commands in every format, and of the reports that it prints. */
async function showAll(text: string): Promise<readonly { readonly format: string; readonly printed: string }[]> {
  const { edgewise, folder, write } = await createWorkspace(toFiles(text));
  const lines = [
    'plan edgewise.yaml edge.yaml -v',
    'apply edgewise.yaml edge.yaml --yes',
    'plan edgewise.yaml edge.yaml broken.yaml',
    'validate edgewise.yaml broken.yaml',
    'drift edgewise.yaml',
  ];
  const shown: { format: string; printed: string }[] = [];
  for (const [index, line] of lines.entries())
    for (const format of FORMATS) {
      const env = JOBS[(index + FORMATS.indexOf(format)) % JOBS.length] ?? {};
      const name = `${line.split(' ')[0]}-${index}.${format}`;
      const { stdout, stderr } = await edgewise(`${line} --format ${format} --report ${format}=${name}`, { env });
      shown.push({ format, printed: stdout }, { format: 'stderr', printed: stderr });
    }
  for (const name of (await readdir(folder)).filter((file) => /-\d[.]/.test(file)))
    shown.push({ format: name.replace(/.*[.]/, ''), printed: await readFile(join(folder, name), 'utf8') });
  await write({ 'other.yaml': toManifest('TCPEdge', 'a', { description: `${text} else` }) });
  for (const line of [
    'plan edgewise.yaml other.yaml',
    'get',
    'get --format yaml',
    'export --owner other',
    `explain ${text}`,
  ]) {
    const { stdout, stderr } = await edgewise(line, { env: { GITHUB_ACTIONS: 'true' } });
    shown.push({ format: line, printed: stdout }, { format: `stderr of ${line}`, printed: stderr });
  }
  return shown;
}

describe('a text with a command to the runner in it', () => {
  it.each(COMMANDS)('gives no command in what a job prints, whatever the format: %j', async (text) => {
    for (const { format, printed } of await showAll(text))
      expect(findOthers(printed, format), `${format}\n${printed}`).toEqual([]);
  });

  it('gives none either, whatever it is made of', async () => {
    const part = fc.oneof(
      fc.constantFrom(...COMMANDS),
      fc.constantFrom(':', '::', '#', '##', '[', ' ', '\n', '\r', 'error', ']'),
    );
    const texts = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('').slice(0, 200));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const { format, printed } of await showAll(text)) expect(findOthers(printed, format), printed).toEqual([]);
      }),
      { numRuns: toTries(12) },
    );
  });

  it('stays what it is for programs that read JSON', async () => {
    const { edgewise } = await createWorkspace(toFiles(COMMANDS[0]));
    const { stdout } = await edgewise('plan edgewise.yaml edge.yaml --format json', {
      env: { GITHUB_ACTIONS: 'true' },
    });
    expect(stdout).not.toContain(COMMANDS[0]);
    expect(JSON.parse(stdout).changes[0].desired.description).toBe(COMMANDS[0]);
  });

  it('leaves our annotations as they are', async () => {
    const { edgewise } = await createWorkspace(toFiles('a text'));
    const line = 'validate edgewise.yaml broken.yaml --format github';
    const { stdout } = await edgewise(line, { env: { GITHUB_ACTIONS: 'true' } });
    expect(stdout).toBe((await edgewise(line)).stdout);
    expect(readCommands(stdout).map(({ name }) => name)).toContain('error');
  });
});

describe('a line that comes in parts', () => {
  const part = fc.constantFrom(
    ...COMMANDS,
    ...':#[] \n\r\t',
    '::',
    '##',
    'section_',
    'start',
    ':1:n\r\u001b[0K',
    'group',
  );

  it('has no command in it, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const filter = createJobCommandEscaper();
        const printed = parts.map(filter).join('');
        expect(readCommands(printed)).toEqual([]);
        expect(readSections(printed)).toEqual([]);
      }),
      { numRuns: toTries(3000) },
    );
  });

  it('has none, when another stream writes in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 12 }), (parts) => {
        const [first, second] = [createJobCommandEscaper(), createJobCommandEscaper()];
        const printed = parts.map(([text, isFirst]) => (isFirst ? first : second)(`${text}\n`)).join('');
        expect(readCommands(printed)).toEqual([]);
      }),
      { numRuns: toTries(3000) },
    );
  });

  it('is changed nowhere else, and once', () => {
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join('')),
        (text) => {
          const once = escapeJobCommands(text);
          expect(escapeJobCommands(once)).toBe(once);
          expect(once.replaceAll('\\u003a', ':').replaceAll('\\u005b', '[')).toBe(text);
        },
      ),
      { numRuns: toTries(1000) },
    );
  });
});
