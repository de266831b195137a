import { IS_FULL } from './tries.ts';

/** Says, once all tests are over, what was left out. */
export function teardown(): void {
  if (IS_FULL) return;
  process.stdout.write(
    `
Left out, to be quick:
- three quarters of what is random (laws, fuzz, walks), and most laws on the kinds of the stranger
- long journeys: every kind end to end, signals, killed processes, secrets, editors, import directions, fields that a service hides, large accounts and documents, load, sshd, browsers, other tools, pipelines under attack, broken programs, the types of the library and of programs in the documents
EDGEWISE_FULL=1 tries everything.
`,
  );
}
