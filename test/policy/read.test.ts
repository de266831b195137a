import { expect, it } from 'vitest';
import { createWorkspace } from '../cli/workspace.ts';

/** Mistakes in each YAML syntax of a text. */
const POLICIES = `apiVersion: edgewise/v1
kind: Policy
metadata:
  name: folded
spec:
  match: { kinds: [TCPEdge] }
  require: >-
    labels.?public.orValue("") == "true" ||
    (after.ip_restrictoin != null &&
       after.ip_restriction.enabled)
  message: >-
    Straße 🦊 \${change.address} and
    \${chnge.name}
---
apiVersion: edgewise/v1
kind: Policy
metadata:
  name: literal
spec:
  require: |
    labels.a == "b" &&
      change.action == 3
  message: so \${ 1 +
---
apiVersion: edgewise/v1
kind: Policy
metadata:
  name: plain
spec:
  require: size(after.acl)
  message: 'quoted \${change.address + 1}'
`;

it('shows every mistake in every expression, at its place', async () => {
  const { edgewise, recorder } = await createWorkspace({ 'policies.yaml': POLICIES });
  const { exitCode, stdout } = await edgewise('validate');
  expect(exitCode).toBe(3);
  expect(recorder.take()).toEqual([]);
  expect(stdout).toMatchInlineSnapshot(`
    "error[policy-invalid]: Policy/folded: spec.require: names after.ip_restrictoin, which is not a field of TCPEdge
      --> policies.yaml:9:6
       8 |     labels.?public.orValue("") == "true" ||
       9 |     (after.ip_restrictoin != null &&
         |      ^^^^^^^^^^^^^^^^^^^^
      10 |        after.ip_restriction.enabled)
      help: Did you mean \`ip_restriction\`?

    error[policy-invalid]: Policy/folded: spec.message: Unknown variable: chnge
      --> policies.yaml:13:7
      12 |     Straße 🦊 \${change.address} and
      13 |     \${chnge.name}
         |       ^^^^^^^^^^
      help: Did you mean \`change\`?

    error[policy-invalid]: Policy/literal: spec.require: no such overload: string == int
      --> policies.yaml:22:7
      21 |     labels.a == "b" &&
      22 |       change.action == 3
         |       ^^^^^^^^^^^^^
      23 |   message: so \${ 1 +
      help: Correct the expression. docs/how-to/policies.md lists the names that it may use, and their types.

    error[policy-invalid]: Policy/literal: spec.message: has a \`\${\` that no \`}\` closes
      --> policies.yaml:23:15
      22 |       change.action == 3
      23 |   message: so \${ 1 +
         |               ^^
      help: Correct the expression. docs/how-to/policies.md lists the names that it may use, and their types.

    error[policy-invalid]: Policy/plain: spec.require: has the type int, but must have the type bool
      --> policies.yaml:30:12
      29 | spec:
      30 |   require: size(after.acl)
         |            ^^^^^^^^^^^^^^^
      31 |   message: 'quoted \${change.address + 1}'
      help: Correct the expression. docs/how-to/policies.md lists the names that it may use, and their types.

    error[policy-invalid]: Policy/plain: spec.message: no such overload: string + int
      --> policies.yaml:31:22
      30 |   require: size(after.acl)
      31 |   message: 'quoted \${change.address + 1}'
         |                      ^^^^^^^^^^^^^^
      help: Correct the expression. docs/how-to/policies.md lists the names that it may use, and their types.

    6 errors.
    "
  `);
});

it('explains how to test whether there is a value before or after, which is never null', async () => {
  const policy = (require: string) =>
    `apiVersion: edgewise/v1\nkind: Policy\nmetadata: { name: a }\nspec: { match: { kinds: [TCPEdge] }, require: '${require}', message: no }\n`;
  for (const require of ['before == null', 'null != after && has(after.backend)']) {
    const { edgewise } = await createWorkspace({ 'policies.yaml': policy(require) });
    const { stdout } = await edgewise('validate');
    expect(stdout).toContain(
      'help: `before` and `after` are never null. Ask for one of their fields: `has(after.FIELD)`.',
    );
  }
});
