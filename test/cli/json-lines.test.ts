import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;

/** A stack whose writes are sent one after the other. */
const ONE_BY_ONE = `${STACK}spec: { api: { concurrency: 1 } }\n${toEdge('a', 20001)}${toEdge('b', 20002)}`;

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const validate = ajv.compile(JSON.parse(readFileSync('schemas/events.schema.json', 'utf8')));

interface Event {
  readonly event: string;
  readonly seq: number;
  readonly [name: string]: unknown;
}

/** Reads the events of a stream. Each conforms to the published schema, the numbers have no gap, and the last event is a summary. */
function readEvents(text: string): readonly Event[] {
  const events = text
    .trimEnd()
    .split('\n')
    .map((line): Event => JSON.parse(line));
  for (const event of events) expect(validate(event), JSON.stringify([event, validate.errors])).toBe(true);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ event }) => event === 'summary')).toEqual(events.slice(-1));
  return events;
}

describe('json-lines', () => {
  it('reports an apply while it runs, on stdout and in a file', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
    const writes: string[] = [];
    const { stdout, exitCode } = await edgewise('apply --yes --format json-lines --report json-lines=events.jsonl', {
      onWrite: (text) => writes.push(text),
    });
    expect(exitCode).toBe(0);
    const events = readEvents(stdout);
    const words = events.map(({ event }) => event);
    expect(words.slice(0, 3)).toEqual(['start', 'diagnostic', 'diagnostic']);
    expect(words.slice(3, -1).sort()).toEqual(['write-done', 'write-done', 'write-started', 'write-started']);
    expect(events.at(-1)).toMatchObject({ command: 'apply', ok: true, exitCode: 0, totals: { applied: 2 } });
    expect(writes.filter((text) => text.startsWith('{"event":"write-started"'))).toHaveLength(2);
    expect(await readFile(join(folder, 'events.jsonl'), 'utf8')).toBe(stdout);
  });

  it('is the same stream in a file beside text', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes --report json-lines=events.jsonl');
    expect(readEvents(await readFile(join(folder, 'events.jsonl'), 'utf8'))).toHaveLength(8);
    const { stdout } = await edgewise('destroy --yes --format json-lines');
    expect(readEvents(stdout).at(-1)).toMatchObject({ command: 'destroy', totals: { applied: 2 } });
  });

  it('ends with a summary if nothing began: invalid manifests, a rejected key, nothing to do', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': `${TWO}  colour: red\n` });
    const invalid = readEvents((await edgewise('apply --yes --format json-lines')).stdout);
    expect(invalid.map(({ event }) => event)).toEqual(['diagnostic', 'summary']);
    expect(invalid.at(-1)).toMatchObject({ command: 'apply', ok: false, exitCode: 3 });
    await write({ 'edgewise.yaml': STACK });
    const refused = await edgewise('apply --yes --format json-lines', { env: { EDGEWISE_API_KEY: 'wrong' } });
    expect(readEvents(refused.stdout).at(-1)).toMatchObject({ ok: false, exitCode: refused.exitCode });
    const nothing = readEvents((await edgewise('apply --yes --format json-lines')).stdout);
    expect(nothing.map(({ event }) => event)).toEqual(['start', 'summary']);
  });

  it('ends with a summary after an interruption', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE_BY_ONE });
    let interrupt = (): void => undefined;
    const { stdout, exitCode } = await edgewise('apply --yes --format json-lines', {
      onListen: (listener) => {
        interrupt = listener;
      },
      onWrite: (text) => {
        if (text.includes('"event":"write-started"')) interrupt();
      },
    });
    expect(exitCode).toBe(130);
    const events = readEvents(stdout);
    expect(events.map(({ event }) => event)).toContain('write-skipped');
    expect(events.at(-1)).toMatchObject({
      interrupted: true,
      ok: false,
      exitCode: 130,
      totals: { applied: 0, skipped: 2 },
    });
  });

  it('has diagnostics and a summary for a plan and for validate', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': TWO });
    const plan = readEvents((await edgewise('plan --format json-lines')).stdout);
    expect(plan.at(-1)).toMatchObject({ command: 'plan', ok: true, changes: { create: 2, unchanged: 0 } });
    expect(readEvents((await edgewise('validate --format json-lines')).stdout).at(-1)).toMatchObject({ ok: true });
  });

  it('continues the stream if a bug ends an apply, on stdout and in a file', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
    const line = 'apply --yes --format json-lines --report json-lines=events.jsonl';
    const { stdout, exitCode } = await edgewise(line, {
      onWrite: (text) => {
        if (text.includes('"event":"write-started"')) throw new TypeError('a bug');
      },
    });
    expect(exitCode).toBe(70);
    const events = readEvents(stdout);
    expect(events.map(({ event }) => event)).toEqual(['start', 'diagnostic', 'write-started', 'summary']);
    expect(events.at(-1)).toMatchObject({ command: 'apply', ok: false, exitCode: 70, error: 'a bug' });
    expect(await readFile(join(folder, 'events.jsonl'), 'utf8')).toBe(stdout);
  });
});
