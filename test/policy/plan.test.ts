import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

const POLICY = `---
apiVersion: edgewise/v1
kind: Policy
metadata:
  name: owned
spec:
  require: '"team" in labels'
  message: Say in the label team whose \${change.address} is.
`;

describe('a policy among the manifests', () => {
  it('refuses a plan, with the lines of the resource and of the policy', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) + POLICY });
    const planned = await edgewise('plan');
    expect(planned.stdout).toMatchInlineSnapshot(`
      "refused[policy]: Say in the label team whose TCPEdge/a is. (policy owned)
        note: the resource is here
        --> edgewise.yaml:9:9
         8 | metadata:
         9 |   name: a
           |         ^
        10 | spec:
        note: the policy is here
        --> edgewise.yaml:18:12
        17 | spec:
        18 |   require: '"team" in labels'
           |            ^^^^^^^^^^^^^^^^^^
        19 |   message: Say in the label team whose \${change.address} is.
        help: No flag allows what a policy refuses. Change the manifest, or ask whoever keeps the policy.

      Plan for stack test on https://api.test

      + TCPEdge/a   create
          hostports:
            + 1.tcp.example.net:20001

      Lint warnings (edgewise validate shows them in full):
        edgewise.yaml:10:1: edge-without-backend (TCPEdge/a)

      0 to delete, 0 to replace, 0 to update, 0 to adopt, 1 to create; 0 unchanged.
      Reading took 6 requests; applying needs 1. Rehearsed: the write succeeds, and nothing is left to do.
      1 safety rule blocks this plan: see the top. 1 warning: see above.
      "
    `);
    expect(planned.exitCode).toBe(5);
    expect((await edgewise('apply --yes')).exitCode).toBe(5);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
