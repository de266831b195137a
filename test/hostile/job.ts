import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createServer, type Listener, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { type FakeForge, startFakeForge } from '../forge/fake-forge.ts';
import { type Listener as Attacker, startListener } from './listener.ts';

/** The key of a pipeline job. */
export const KEY = 'key-of-the-pipeline-4711';

/** The environment of a pipeline job. */
export interface JobEnvironment {
  readonly server: Server;
  readonly service: Listener;
  readonly forge: FakeForge;
  readonly attacker: Attacker;
  /** The folder with the files of the change's author. Empty at first. */
  readonly checkout: string;
  /** The folder of the runner. Empty at first. */
  readonly runner: string;
}

/** Starts a service and creates the folders for one test. */
export async function startJobEnvironment(): Promise<JobEnvironment> {
  const server = createServer({ apiKeys: [parseApiKey(`${KEY}:admin`)] });
  const [service, forge, attacker] = [await listen(server, { port: 0 }), await startFakeForge(), await startListener()];
  const work = await mkdtemp(join(tmpdir(), 'edgewise-hostile-'));
  const [checkout, runner] = [join(work, 'checkout'), join(work, 'runner')];
  await mkdir(checkout);
  await mkdir(runner);
  onTestFinished(async () => {
    await service.close();
    await forge.close();
    await rm(work, { recursive: true, force: true });
  });
  return { server, service, forge, attacker, checkout, runner };
}
