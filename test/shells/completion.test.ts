import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeWith } from '../pipelines/tools.ts';
import { selectEvenly } from '../tries.ts';
import { createPlayground, openTerminal } from './terminal.ts';

const LONG = 120_000;

/** How each shell starts without the settings of its user, and loads the script. */
const SHELLS = [
  { shell: 'bash', command: 'bash --norc --noprofile -i', setUp: 'source <(edgewise completion bash)' },
  {
    shell: 'zsh',
    command: 'zsh -f -i',
    setUp: 'autoload -U compinit; compinit -D -u; source <(edgewise completion zsh)',
  },
  { shell: 'fish', command: 'fish --no-config -i', setUp: 'edgewise completion fish | source' },
] as const;

/** The typed keys, and the arguments with which edgewise runs. */
const LINES: readonly (readonly [keys: string, words: readonly string[]])[] = [
  ['edgewise pla\tmanifests/ed\t', ['plan', 'manifests/edgewise.yaml']],
  ['edgewise plan --detailed-e\t', ['plan', '--detailed-exitcode']],
  ['edgewise plan --format js\tmanifests', ['plan', '--format', 'json', 'manifests']],
  ['edgewise plan --format=mark\t', ['plan', '--format=markdown']],
  ['edgewise plan manifests --target TCPEdge/po\t', ['plan', 'manifests', '--target', 'TCPEdge/postgres']],
  [
    'edgewise get manifests TCPEdge/r\t--format value=hostp\t',
    ['get', 'manifests', 'TCPEdge/redis', '--format', 'value=hostports'],
  ],
  ['edgewise show my\t', ['show', 'my plan.json']],
  ['edgewise plan --report=json=mani\tplan.json', ['plan', '--report=json=manifests/plan.json']],
  ['edgewise plan --report ht\treport.html', ['plan', '--report', 'html=report.html']],
  ['edgewise explain TCPEdge.ip_restriction.ip\t', ['explain', 'TCPEdge.ip_restriction.ip_policy_ids']],
  ['edgewise plan -R manifests --stack te\t', ['plan', '-R', 'manifests', '--stack', 'test']],
  ['edgewise plan --base-url emb\taccount.json', ['plan', '--base-url', 'embedded:account.json']],
];

/** Names of files that run `touch pwned`, or are several words, in a shell if they are not quoted. */
const NAMES = [
  'q1$(touch pwned).json',
  'q2`touch pwned`',
  'q3;touch pwned;',
  'q4 "x" \'y',
  'q5*',
  'q6\\x',
  'q7&touch pwned',
  'q8#!x',
  'q9{a,b}[c]~',
  'qa|touch pwned',
  'qb>pwned',
  'qc:d=e',
  'qd$HOME%s',
  'qe$(a',
  'qe$(b',
] as const;

/** The text before a name, and the arguments of edgewise with it. */
const PLACES: readonly (readonly [before: string, toWords: (name: string) => readonly string[]])[] = [
  ['edgewise plan --report=json=', (name) => ['plan', `--report=json=${name}`]],
  ['edgewise plan --report json=', (name) => ['plan', '--report', `json=${name}`]],
  ['edgewise plan --out=', (name) => ['plan', `--out=${name}`]],
  ['edgewise plan --out ', (name) => ['plan', '--out', name]],
  ['edgewise validate ', (name) => ['validate', name]],
];

/** Every name at every place, of which a landing tries some. */
const CASES = NAMES.flatMap((name) => PLACES.map(([place]) => [name, place] as const));

for (const { shell, command, setUp } of SHELLS) {
  describeWith([shell, 'script'], `completion in ${shell}, at a terminal`, () => {
    it('completes commands, options, values, files and addresses', { timeout: LONG }, async () => {
      const terminal = await openTerminal(command, setUp);
      for (const [keys, words] of LINES)
        expect([keys, await terminal.run(keys)], terminal.screen()).toEqual([keys, words]);
    });

    it('proposes no file with the name of an option', { timeout: LONG }, async () => {
      // The terminal adds the second `touch ready`, which runs in the new folder.
      const enter = 'mkdir only; touch -- only/--yes; touch ready; cd only';
      const terminal = await openTerminal(command, `${setUp}; ${enter}`);
      expect(await terminal.run('edgewise show \t'), terminal.screen()).toEqual(['show', 'ready']);
    });

    it.each(PLACES)(
      'completes a file as one word, and runs nothing of it: %s',
      { timeout: LONG },
      async (before, toWords) => {
        const terminal = await openTerminal(command, setUp, NAMES);
        for (const [name] of selectEvenly(CASES).filter(([, place]) => place === before)) {
          const keys = name.startsWith('qe') ? `qe\t${name.at(-1)}\t` : `${name.slice(0, 2)}\t`;
          expect([name, await terminal.run(`${before}${keys}`)], terminal.screen()).toEqual([name, toWords(name)]);
        }
        expect(existsSync(join(terminal.folder, 'pwned'))).toBe(false);
      },
    );
  });
}

describeWith(['bash'], 'completion in bash, asked by its own variables', () => {
  it.each([
    [
      ['edgewise', 'plan', '--format', '=', 'j'],
      ['json', 'junit'],
    ],
    [
      ['edgewise', 'plan', '--format', '='],
      ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'],
    ],
    [
      ['edgewise', 'plan', 'manifests', '--target', ''],
      ['TCPEdge/postgres', 'TCPEdge/redis'],
    ],
    [['edgewise', 'stacks', '--stack', ''], ['test']],
    [['edgewise', 'serve', '--host', ''], []],
  ])('%j', (words, expected) => {
    const { folder, env } = createPlayground();
    const ask = `source <(edgewise completion bash); _edgewise edgewise 2>/dev/null; printf "%s\\n" "\${COMPREPLY[@]}"`;
    const variables = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; `;
    const printed = execFileSync('bash', ['--norc', '-c', variables + ask], { cwd: folder, env, encoding: 'utf8' });
    expect(printed.split('\n').filter((line) => line !== '')).toEqual(expected);
  });
});

describeWith(['bash'], 'the candidates in bash, of which one may be a path', () => {
  it('are words and files that begin with what is typed, also under set -u', () => {
    const { folder, env } = createPlayground();
    writeFileSync(join(folder, 'CredFile'), '');
    const ask = `set -u; source <(edgewise completion bash); _edgewise edgewise; printf "%s\\n" "\${COMPREPLY[@]}"`;
    const variables = `COMP_WORDS=(edgewise get Cred); COMP_CWORD=2; `;
    const printed = execFileSync('bash', ['--norc', '-c', variables + ask], { cwd: folder, env, encoding: 'utf8' });
    expect(printed.split('\n').filter((line) => line !== '')).toEqual(['Credential', 'CredFile']);
  });

  it('are no patterns, and each is one word', () => {
    const { folder, env } = createPlayground();
    for (const name of ['*', 'a b', '$(id)', 'two\nlines', 'a\u001b[2Jb']) writeFileSync(join(folder, name), '');
    const ask = `source <(edgewise completion bash); _edgewise edgewise 2>/dev/null; eval "set -- \${COMPREPLY[*]}"; printf "%s\\n" "$@"`;
    const variables = `COMP_WORDS=(edgewise get ''); COMP_CWORD=2; `;
    const printed = execFileSync('bash', ['--norc', '-c', variables + ask], { cwd: folder, env, encoding: 'utf8' });
    const words = printed.split('\n');
    expect(words).toEqual(expect.arrayContaining(['TCPEdge', '*', 'a b', '$(id)', 'my plan.json']));
    expect(words.filter((word) => word === 'my plan.json')).toHaveLength(1);
  });
});

describeWith(['fish'], 'completion in fish, asked by its own command', () => {
  it.each([
    ['edgewise plan --format j', ['json', 'junit']],
    ['edgewise plan manifests --target TCP', ['TCPEdge/postgres', 'TCPEdge/redis']],
    ['edgewise apply -R manifests --stack ', ['test']],
    ['edgewise show ', ['my plan.json']],
    ['edgewise exp', ['explain', 'export']],
  ])('%s', (line, expected) => {
    const { folder, env } = createPlayground();
    const ask = `edgewise completion fish | source; complete -C ${JSON.stringify(line)}`;
    const printed = execFileSync('fish', ['--no-config', '-c', ask], { cwd: folder, env, encoding: 'utf8' });
    const words = printed.split('\n').map((text) => text.split('\t')[0] ?? '');
    expect(words).toEqual(expect.arrayContaining([...expected]));
    if (!line.endsWith(' ')) expect(words.filter((word) => word !== '').sort()).toEqual([...expected].sort());
  });
});

describe('the completion scripts', () => {
  it('are for the shells that are tested here', async () => {
    const { SHELLS: known } = await import('../../src/cli/commands/completion.ts');
    expect(SHELLS.map(({ shell }) => shell)).toEqual(known);
  });
});
