import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

/** Each row of the table in docs/how-to/going-back.md, played: the commit is applied, then its revert. */

interface Row {
  readonly before: string;
  readonly merged: string;
  /** Options of the apply of the revert. Default: --yes. */
  readonly options?: string;
  readonly exitCode?: number;
  /** What the plan of the revert prints. */
  readonly plan: RegExp;
  /** Whether the same ids are live as before the commit. */
  readonly isSame: boolean;
  /** What a command does in between. */
  readonly between?: string;
}

const KEPT = toEdge('kept', 20009);
const EDGE = toEdge('a', 20001);
const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
const RENAMED = `lifecycle: { renamed_from: a }\n`;

const ROWS: Readonly<Record<string, Row>> = {
  'a new resource': { before: '', merged: EDGE, plan: /1 to delete/, isSame: true },
  'a changed field': {
    before: EDGE,
    merged: toEdge('a', 20002),
    plan: /\+ 1\.tcp\.example\.net:20001/,
    isSame: true,
  },
  'a field that forces a replacement': {
    before: toManifest('AgentIngress', 'agents', { domain: 'a.example.com' }),
    merged: toManifest('AgentIngress', 'agents', { domain: 'b.example.com' }),
    plan: /1 to replace/,
    isSame: false,
  },
  'a delete': { before: EDGE, merged: '', plan: /1 to create/, isSame: false },
  'a rename': {
    before: EDGE,
    merged: `${toEdge('b', 20001)}${RENAMED}`,
    plan: /update: renamed back from TCPEdge\/b/,
    isSame: true,
  },
  'a rename of a credential or certificate': {
    before: toCredential('a'),
    merged: `${toCredential('b')}${RENAMED}`,
    options: '',
    plan: /refused\[renamed-back\][\s\S]*lifecycle: \{ renamed_from: b \}/,
    isSame: true,
  },
  'a rename and another change': {
    before: EDGE,
    merged: `${toEdge('b', 20002)}${RENAMED}`,
    plan: /1 to delete[\s\S]*1 to create/,
    isSame: false,
  },
  'an adoption': {
    before: '',
    merged: toManifest('TCPEdge', 'c', { hostports: ['c.test:1'] }, { lifecycle: { adopt: 'edgtcp_clicked' } }),
    exitCode: 1,
    plan: /kept-prune[\s\S]*edgewise release TCPEdge\/c\. .*--allow-adopted TCPEdge\/c/,
    isSame: true,
  },
  'a release': {
    before: POOL,
    merged: '',
    between: 'release WeightedBackend/pool m.yaml --yes',
    exitCode: 3,
    plan: /WeightedBackend\/pool[\s\S]*adopt: bkdwd_/,
    isSame: true,
  },
};

/** The rows with two folders: their files after each commit, and what consents to the revert. */
const ACROSS: Readonly<Record<string, Pick<Row, 'plan' | 'isSame' | 'options'> & { readonly folders: Folders }>> = {
  'a move to another stack': {
    folders: [
      [toStack('a', EDGE), toStack('b', KEPT)],
      [toStack('a', ''), toStack('b', `${KEPT}${EDGE}lifecycle: { renamed_from: { stack: a, name: a } }\n`)],
    ],
    plan: /take over: back from the stack b[\s\S]*--allow-take-over b|--allow-take-over b[\s\S]*back from the stack b/,
    options: '--allow-take-over b',
    isSame: true,
  },
  'a move and another change': {
    folders: [
      [toStack('a', EDGE), toStack('b', KEPT)],
      [
        toStack('a', ''),
        toStack('b', `${KEPT}${toEdge('a', 20002)}lifecycle: { renamed_from: { stack: a, name: a } }\n`),
      ],
    ],
    plan: /1 to delete[\s\S]*renamed_from: \{ stack: b, name: a \}/,
    options: '',
    isSame: false,
  },
  'a new name of the Stack': {
    folders: [
      [toStack('a', POOL), toStack('b', KEPT)],
      [toStack('shop', POOL).replace('name: shop', 'name: shop\n  renamed_from: a'), toStack('b', KEPT)],
    ],
    plan: /created beside equal ones of the stack shop[\s\S]*renamed_from: shop/,
    options: '',
    isSame: false,
  },
};

type Folders = readonly (readonly [string, string])[];

function toStack(name: string, text: string): string {
  return `${STACK.replace('name: test', `name: ${name}`)}${text}`;
}

function listIds({ server }: Workspace): readonly string[] {
  return Object.values(server.snapshot().resources ?? {})
    .flat()
    .map(({ id }) => String(id))
    .sort();
}

/** The first cells of the table on the page. */
function listRows(): readonly string[] {
  const page = readFileSync('docs/how-to/going-back.md', 'utf8');
  const [table = ''] = page.split('\n## ');
  return Array.from(table.matchAll(/^\| ([^|]+?) \|/gm), ([, first = '']) => first).filter(
    (first) => !/^(?:-+|What was merged)$/.test(first),
  );
}

describe('going back', () => {
  it('has a test for each row of the page', () => {
    expect(listRows().toSorted()).toEqual([...Object.keys(ROWS), ...Object.keys(ACROSS)].sort());
  });

  it.each(Object.entries(ROWS))('%s', async (_, row) => {
    const { before, merged, options = '--yes', exitCode = 0, plan, isSame, between } = row;
    const clicked = { id: 'edgtcp_clicked', hostports: ['c.test:1'] };
    const workspace = await createWorkspace({}, { seed: { resources: { TCPEdge: [clicked] } } });
    const apply = async (text: string, words: string): Promise<number> => {
      await workspace.write({ 'm.yaml': `${STACK}${KEPT}${text}` });
      return (await workspace.edgewise(`apply m.yaml ${words} --token-directory tokens`, { answers: ['yes'] }))
        .exitCode;
    };
    expect(await apply(before, '--yes')).toBe(0);
    const ids = listIds(workspace);
    if (between !== undefined) expect(await workspace.edgewise(between)).toMatchObject({ exitCode: 0 });
    expect(await apply(merged, '--yes')).toBe(0);
    await workspace.write({ 'm.yaml': `${STACK}${KEPT}${before}` });
    expect((await workspace.edgewise('plan m.yaml --token-directory tokens')).stdout).toMatch(plan);
    expect(await apply(before, options)).toBe(exitCode);
    expect(JSON.stringify(listIds(workspace)) === JSON.stringify(ids)).toBe(isSame);
  });

  it.each(Object.entries(ACROSS))('%s', async (_, { folders: [before, merged], plan, options, isSame }) => {
    const workspace = await createWorkspace({});
    const write = ([first, second]: readonly [string, string] = ['', '']): Promise<void> =>
      workspace.write({ 'live/a/edgewise.yaml': first, 'live/b/edgewise.yaml': second });
    await write(before);
    expect(await workspace.edgewise('apply -R live --yes')).toMatchObject({ exitCode: 0 });
    const ids = listIds(workspace);
    await write(merged);
    expect(await workspace.edgewise('apply -R live --yes --allow-take-over a')).toMatchObject({ exitCode: 0 });
    await write(before);
    expect((await workspace.edgewise('plan -R live')).stdout).toMatch(plan);
    expect(await workspace.edgewise(`apply -R live --yes ${options}`.trim())).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(listIds(workspace)) === JSON.stringify(ids)).toBe(isSame);
  });
});
