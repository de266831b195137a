import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from '../repository/tree.ts';

/** An apply of a folder of plans is interrupted at every possible point, and then repeated with the manifests. */

const toPool = (name: string): string => toManifest('WeightedBackend', name, { backends: { bkdhr_1: 1 } });

const toForeign = (name: string, stack: string): string =>
  toManifest('External', name, { stack, resource: `WeightedBackend/${name}` });

const toUser = (name: string, port: number, pool: string): string =>
  toManifest('TCPEdge', name, {
    hostports: [`1.tcp.example.net:${port}`],
    backend: { backend_id: `External/${pool}` },
  });

type Files = Readonly<Record<string, string>>;

const NETWORK = { 'live/net/edgewise.yaml': `${toStack('net')}${toPool('pool')}` };
const TAKEN = `${toEdge('shop', 20_001)}lifecycle: { renamed_from: { stack: net, name: shop } }\n`;

/** The live state, and the desired one. */
const CASES: readonly (readonly [string, Files, Files])[] = [
  [
    'wait for ids of each other',
    {},
    {
      ...NETWORK,
      'live/apps/edgewise.yaml': `${toStack('apps')}${toForeign('pool', 'net')}${toUser('shop', 20_001, 'pool')}${toPool('inner')}`,
      'live/web/edgewise.yaml': `${toStack('web')}${toForeign('inner', 'apps')}${toForeign('pool', 'net')}${toUser('one', 20_002, 'inner')}${toUser('two', 20_003, 'pool')}`,
    },
  ],
  [
    'hand a resource over, and let go of what the other deletes',
    {
      'live/net/edgewise.yaml': `${toStack('net')}${toPool('pool')}${toEdge('shop', 20_001)}${toEdge('gone', 20_005)}`,
      'live/web/edgewise.yaml': `${toStack('web')}${toForeign('pool', 'net')}${toUser('one', 20_002, 'pool')}`,
    },
    {
      'live/net/edgewise.yaml': `${toStack('net')}${toPool('next')}`,
      'live/web/edgewise.yaml': `${toStack('web')}${toForeign('next', 'net')}${toUser('one', 20_002, 'next')}${toEdge('five', 20_005)}${TAKEN}`,
    },
  ],
  [
    'only let go of what the other only deletes',
    {
      ...NETWORK,
      'live/web/edgewise.yaml': `${toStack('web')}${toForeign('pool', 'net')}${toUser('one', 20_002, 'pool')}`,
    },
    { 'live/net/edgewise.yaml': toStack('net'), 'live/web/edgewise.yaml': `${toStack('web')}${toEdge('one', 20_002)}` },
  ],
];

const APPLY = 'apply -R live --approved plans --yes --allow-deletes';

async function planChange(live: Files, next: Files): Promise<Workspace> {
  const workspace = await createWorkspace(live);
  if (Object.keys(live).length > 0)
    expect(await workspace.edgewise('apply -R live --yes')).toMatchObject({ exitCode: 0 });
  await workspace.write(next);
  expect(await workspace.edgewise('plan -R live -o plans --allow-deletes')).toMatchObject({ exitCode: 0 });
  workspace.recorder.take();
  return workspace;
}

interface Point {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** A transport that fails from a write on. */
function createDyingTransport({ write, when }: Point, transport: Transport): Transport {
  let [count, isDead] = [0, false];
  return async (request) => {
    const isPoint = request.method !== 'GET' && count++ === write;
    if (!isDead && isPoint && when === 'after') await transport(request);
    isDead ||= isPoint;
    if (isDead) throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
    return transport(request);
  };
}

describe('a folder of plans is applied again after an interruption if its stacks', () => {
  it.each(CASES)(
    '%s',
    async (_, live, next) => {
      const whole = await planChange(live, next);
      expect(await whole.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
      const writes = listWrites(whole).length;
      const points = Array.from({ length: writes }, (_, write) => [
        { write, when: 'before' } as const,
        { write, when: 'after' } as const,
      ]);
      for (const point of points.flat()) {
        const { edgewise, recorder } = await planChange(live, next);
        expect(
          (await edgewise(APPLY, { transport: createDyingTransport(point, recorder.transport) })).exitCode,
        ).not.toBe(0);
        expect(await edgewise(APPLY), JSON.stringify(point)).toMatchObject({ exitCode: 0 });
        expect(await edgewise('plan -R live --detailed-exitcode')).toMatchObject({ exitCode: 0 });
      }
    },
    60_000,
  );
});
