import { expect, it } from 'vitest';
import { parseApiKey } from '../../src/server/index.ts';
import { createWorkspace, toTranscript } from './workspace.ts';

it('submits a report and reads it by its id', async () => {
  const { edgewise } = await createWorkspace();
  const submitted = await edgewise(
    'abuse-report submit https://phishing.example.com/login https://evil.example.net/x --metadata case-17',
  );
  expect(toTranscript(submitted)).toMatchInlineSnapshot(`
    "exit code 0
    --- stdout
    abrp_3ALKRDJGD5v0XNqrF0OBShxPncb  PENDING  submitted 2026-03-01T12:00:00Z
      phishing.example.com  PENDING
      evil.example.net      PENDING
    "
  `);
  const id = /abrp_\w+/.exec(submitted.stdout)?.[0];
  expect((await edgewise(`abuse-report get ${id}`)).stdout).toBe(submitted.stdout);
  expect(JSON.parse((await edgewise(`abuse-report get ${id} --format json`)).stdout)).toMatchObject({
    id,
    status: 'PENDING',
    metadata: 'case-17',
  });
});

it('an account that is not authorized is told so with exit code 4', async () => {
  const { edgewise } = await createWorkspace({}, { apiKeys: [parseApiKey('dev')] });
  expect(await edgewise('abuse-report submit https://phishing.example.com/')).toMatchObject({ exitCode: 4 });
});

it('a report that does not exist is a failure', async () => {
  const { edgewise } = await createWorkspace();
  expect(await edgewise('abuse-report get abrp_000000000000000000000000000')).toMatchObject({ exitCode: 1 });
});
