import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { compileInputPattern } from '../../src/manifest/path-pattern.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { runEdgewise } from '../end-to-end/processes.ts';
import { changePlan } from '../results.ts';
import { createCheckout } from './listener.ts';

/** An author of a pull request tries to make the job run until it is cancelled: with small files that a pattern searches again and again. */

const LENGTH = 400_000;
const EDGE = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\n';
const ENV = { EDGEWISE_UNTRUSTED: '1', EDGEWISE_BASE_URL: 'embedded:' };

function toStack(more: object): string {
  return JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' }, ...more });
}

// A failure shows as a timeout: the run would take hours.
describe('a plan ends despite', () => {
  it.each([
    ['dashes', '-'.repeat(LENGTH)],
    ['empty lines', `${'\n'.repeat(LENGTH)}!`],
    ['lines with a space', `${' \n'.repeat(LENGTH)}!`],
    ['lines that each end a document', `a${'\r'.repeat(LENGTH)}!`],
    ['braces', '{'.repeat(LENGTH)],
    ['words without a colon', 'a-'.repeat(LENGTH)],
    ['tags in brackets that are never closed', `${EDGE}x: [${'!((((, '.repeat(100_000)}]\n`],
    ['tags before lists', `${EDGE}x: [${'! [], '.repeat(60_000)}]\n`],
    ['tags of many documents', `${EDGE}x: ! y\n---\n`.repeat(5000)],
  ])('a file of %s', async (_, text) => {
    const folder = await createCheckout({ 'edgewise.yaml': toStack({}), 'b.yaml': text });
    expect((await runEdgewise(['plan', folder], ENV)).exitCode).toBe(3);
  });

  it('a path of another tool with spaces in the middle', async () => {
    const spaces = ' '.repeat(LENGTH / 2);
    const annotations = { 'config.kubernetes.io/origin': `path: a${spaces}b${spaces}c${spaces}\nref: x` };
    const folder = await createCheckout({ 'edgewise.yaml': toStack({ metadata: { name: 'shop', annotations } }) });
    const { exitCode } = await runEdgewise(['validate', folder], ENV);
    expect([0, 3]).toContain(exitCode);
  });

  it('the URL of a service with slashes in the middle', async () => {
    const api = { base_url: `https://x/${'/'.repeat(LENGTH)}a` };
    const folder = await createCheckout({ 'edgewise.yaml': toStack({ spec: { api } }) });
    expect((await runEdgewise(['plan', folder], ENV)).exitCode).toBe(3);
    expect((await runEdgewise(['plan', '-R', folder], ENV)).exitCode).toBe(3);
  });

  it('a public key whose comment has spaces in the middle', async () => {
    const blob = Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519')]).toString('base64');
    const spec = {
      public_key: `ssh-ed25519 ${blob} a${' '.repeat(LENGTH)}\rb`,
      ssh_certificate_authority_id: 'sshca_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
    };
    const key = { apiVersion: 'edgewise/v1', kind: 'SSHUserCertificate', metadata: { name: 'a' }, spec };
    const folder = await createCheckout({ 'edgewise.yaml': toStack({}), 'b.json': JSON.stringify(key) });
    const { exitCode, stdout } = await runEdgewise(['validate', folder], ENV);
    expect({ exitCode, stdout: stdout.slice(0, 2000) }).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('a comment on one line'),
    });
  });

  // The patterns are short, and expand to texts a thousand times as long.
  it.each([
    ['copies', list(20, (at) => at + '(?:(?:x{10}){10}){10}'.repeat(900))],
    ['many copies', list(3000, (at) => `${at}x{0,1000}`)],
    ['ranges of letters of either case', ['(?i)'.concat('[\u0080-\u{1e942}]'.repeat(3500))]],
    ['ranges of either case in one class', [`(?i)[${'\u0080-\u{1e942}'.repeat(4500)}]`]],
    ['ranges of either case after what is quoted', list(2000, (at) => `\\Q${at}\\E(?si-m:[\u0080-\u{1e942}])`)],
    ['classes of Unicode', list(1000, (at) => `${at}(?i)[${'\\PL\\p{Greek}'.repeat(120)}]`)],
  ])('patterns that expand to %s', async (_, deny) => {
    const { exitCode, stdout } = await validatePatterns(deny);
    expect({ exitCode, stdout: stdout.slice(0, 2000) }).toMatchObject({ exitCode: 0 });
  });

  it('a pattern with many beginnings of named classes', async () => {
    const { exitCode } = await validatePatterns([`[[${'[:'.repeat(LENGTH)} ]`]);
    expect(exitCode).toBe(0);
  });
});

function list<T>(length: number, create: (at: number) => T): readonly T[] {
  return Array.from({ length }, (_, at) => create(at));
}

async function validatePatterns(deny: readonly string[]) {
  const spec = {
    edge_id: 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
    id: 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
    user_agent_filter: { deny },
  };
  const route = { apiVersion: 'edgewise/v1', kind: 'HTTPSEdgeRoute', metadata: { name: 'a' }, spec };
  const folder = await createCheckout({ 'edgewise.yaml': toStack({}), 'b.json': JSON.stringify(route) });
  return await runEdgewise(['validate', folder], ENV);
}

describe('a pattern of spec.inputs with many wildcards', () => {
  it('is compared with deep paths at once', () => {
    const deep = 'a/'.repeat(60);
    for (const pattern of [`${'**/a/'.repeat(40)}b`, `${'*a'.repeat(1000)}b`, `${'[a-z]*'.repeat(500)}/b`]) {
      const started = performance.now();
      expect(compileInputPattern(pattern, '')?.matches(`${deep}${'a'.repeat(1000)}`)).toBe(false);
      expect(performance.now() - started).toBeLessThan(5000);
    }
  });
});

it('finds many stacks, each with a link that leads out, in seconds', async () => {
  const folder = await createCheckout({ 'edgewise.yaml': toStack({}) });
  mkdirSync(join(folder, '.git'));
  for (let index = 0; index < 1_500; index += 1) {
    const at = join(folder, `s${index}`);
    mkdirSync(at);
    writeFileSync(join(at, 'edgewise.yaml'), toStack({ metadata: { name: `s${index}` } }));
    symlinkSync('/etc/hosts', join(at, 'out.yaml'));
  }
  const started = performance.now();
  expect(await runEdgewise(['stacks', folder, '--format', 'folder'], ENV)).toMatchObject({ exitCode: 0 });
  expect(performance.now() - started).toBeLessThan(10_000);
});

/** The attacker can change the artifacts: each change is small, but is searched for among all. */
describe('an apply ends despite a plan file with very many', () => {
  const MANY = 20_000;

  it('creates that the manifests do not have', { timeout: 120_000 }, async () => {
    const { edgewise, folder, write } = await createWorkspace({ 'm/edgewise.yaml': `${STACK}${toEdge('a', 20_001)}` });
    await edgewise('plan m -o plan.json');
    const text = readFileSync(join(folder, 'plan.json'), 'utf8');
    await write({ 'plan.json': changePlan(text, multiply), 'm/edgewise.yaml': STACK });
    const start = performance.now();
    const { exitCode } = await edgewise('apply m --approved plan.json --yes');
    expect(exitCode).toBe(6);
    expect(performance.now() - start).toBeLessThan(60_000);
  });

  function multiply(plan: PlanFileContent): object {
    const names = Array.from({ length: MANY }, (_, index) => `e${String(index).padStart(6, '0')}`);
    const [change, write] = [plan.changes[0], plan.writes[0]].map((part) => JSON.stringify(part));
    const rename = (text = '', name: string) =>
      JSON.parse(text.replaceAll('TCPEdge/a', `TCPEdge/${name}`).replaceAll('"name":"a"', `"name":"${name}"`));
    return {
      ...plan,
      diagnostics: [],
      changes: names.map((name) => rename(change, name)),
      writes: names.map((name) => rename(write, name)),
      totals: { ...plan.totals, create: MANY },
    };
  }
});
