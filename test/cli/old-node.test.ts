import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Makes a process report an old version of Node. */
const OLD = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })`;

it('says in one line how to get a new Node: by a version manager, by npm, or as an image', async () => {
  const run = promisify(execFile)(process.execPath, ['--import', OLD, 'src/cli/main.ts', 'plan']);
  const { code, stdout, stderr } = await run.catch((error) => error);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toMatch(/^edgewise \S+ needs Node 22\.19\.0 or newer; this is Node 18\.20\.4\. .*\n$/);
  for (const way of ['nvm install 22', 'npm install --save-dev node@22', 'container image'])
    expect(stderr).toContain(way);
});
