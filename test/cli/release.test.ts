import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hideVersion } from '../hide-version.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge, toTranscript, type Workspace } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;

/** Two owned edges, without the requests that created them. */
async function createOwned(manifests = TWO): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': manifests });
  await workspace.edgewise('apply --yes');
  workspace.recorder.take();
  return workspace;
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder.take().flatMap(({ method }) => (method === 'GET' ? [] : [method]));
}

describe('release', () => {
  it('shows what it does, asks, and removes the mark', async () => {
    const workspace = await createOwned();
    const result = await workspace.edgewise('release TCPEdge/a', { answers: ['yes'] });
    expect(toTranscript(result)).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      Plan to release from stack test on https://api.test
      0 to delete, 0 to replace, 0 to update, 1 to release, 0 to adopt, 0 to create; 0 unchanged.
      ! 1 danger (1 ownership).

      « TCPEdge/a  (edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb)   release: only its mark is removed
          ! ownership: will be released: it belongs to test
          its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: { adopt: edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb }

      Reading took 1 request; applying takes 1 write, and up to 1 read right before writes. Rehearsed on a copy in memory of what was read: the write succeeded there, and a plan of the same targets made afterwards would be empty.

      Applied:
        release TCPEdge/a  edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb

      1 write applied, 0 failed, 0 skipped: stack test on https://api.test.
      --- stderr
      ! 1 danger (1 ownership).
      Send this write to https://api.test? Only "yes" is accepted: yes
      [1/1] release TCPEdge/a … done
      "
    `);
    expect(listWrites(workspace)).toEqual(['PATCH']);
    const again = await workspace.edgewise('release TCPEdge/a --yes');
    expect(toTranscript(again)).toMatchInlineSnapshot(`
      "exit code 3
      --- stdout
      Plan to release from stack test on https://api.test
      This plan cannot be applied.
      1 error: see below.
      Nothing was written.

      error[unknown-target]: TCPEdge/a is not owned by the stack test
        help: \`edgewise get\` lists what the stack owns.

      Reading took 1 request.
      "
    `);
  });

  it('writes nothing after no, or without a terminal', async () => {
    const workspace = await createOwned();
    expect(await workspace.edgewise('release TCPEdge/a', { answers: ['y'] })).toMatchObject({ exitCode: 130 });
    expect(await workspace.edgewise('release TCPEdge/a')).toMatchObject({ exitCode: 3 });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('accepts several addresses, with the folder of the manifests beside them', async () => {
    const workspace = await createOwned();
    const { exitCode, stdout } = await workspace.edgewise('release TCPEdge/a edgewise.yaml TCPEdge/b --yes');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('2 writes applied');
  });

  it('prints one JSON document, and a comment', async () => {
    const workspace = await createOwned();
    const json = await workspace.edgewise('release TCPEdge/a --yes --format json --report markdown=release.md');
    expect(readOnlyStack(json.stdout)).toMatchObject({ command: 'release', ok: true, totals: { applied: 1 } });
    const comment = await readFile(join(workspace.folder, 'release.md'), 'utf8');
    expect(hideVersion(comment)).toMatchInlineSnapshot(`
      "<!-- edgewise:release stack=test -->

      ## ✓ 1 write applied, 0 failed, 0 skipped

      Release from stack test on \`https://api.test\`: ✓ 1 write applied, 0 failed, 0 skipped.

      Applied:

      | Write | Id | Note |
      | --- | --- | --- |
      | \`release TCPEdge/a\` | \`edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb\` |  |

      ### The plan

      Plan to release from stack test on \`https://api.test\`.

      > [!CAUTION]
      > **1 danger (1 ownership)**
      >
      > - **ownership** \`TCPEdge/a\` will be released: it belongs to test<a name="danger-kzINVJD8sAET"></a>

      |  | Resource | What |
      | --- | --- | --- |
      | \`«\`&nbsp;release | \`TCPEdge/a\`<br>\`edgtcp_3ALKRDJGD5v0XNqrF0OBShxPncb\` | only its mark is removed<br>its manifest stays, so the next apply creates a new one: remove the manifest, or add lifecycle: \\{ adopt: edgtcp\\_3ALKRDJGD5v0XNqrF0OBShxPncb \\} |

      Reading took 1 request; applying takes 1 write, and up to 1 read right before writes. Rehearsed on a copy in memory of what was read: the write succeeded there, and a plan of the same targets made afterwards would be empty.

      <sub>2026\\-03-01 12:&#8203;00 UTC · edgewise VERSION</sub>
      "
    `);
    const other = await workspace.edgewise('release TCPEdge/b --yes --format json');
    expect(readOnlyStack(other.stdout)).toMatchObject({ command: 'release', ok: true, totals: { applied: 1 } });
  });

  it.each([
    ['no address', 'release'],
    ['manifests without an address', 'release edgewise.yaml'],
    ['an address of an unknown kind', 'release Widget/a'],
  ])('refuses %s before any request', async (_, line) => {
    const workspace = await createOwned();
    expect(await workspace.edgewise(line)).toMatchObject({ exitCode: 3 });
    expect(workspace.recorder.take()).toEqual([]);
  });
});
