import { expect, test } from 'vitest';
import { toApplyCommand, toSavedCommand } from '../../src/cli/reconcile/apply-command.ts';

const NONE = { target: [], allowProtected: [] };

test('the command has the paths and the flags that the run was given', () => {
  const flags = {
    ...NONE,
    target: ['TCPEdge/a'],
    rotate: ['Credential/b'],
    takeOver: ['old'],
    delete: false,
    revertDrift: false,
    allowDeletes: true,
    allowProtected: ['TCPEdge/c'],
    baseUrl: 'embedded:',
    tokenCommand: ['vault', "it's"],
  };
  expect(toApplyCommand(['manifests', '-'], flags)).toBe(
    "edgewise apply manifests - --base-url embedded: --target TCPEdge/a --rotate Credential/b --take-over old --no-delete --no-revert-drift --allow-deletes --allow-protected TCPEdge/c --token-command '[\"vault\",\"it'\\''s\"]'",
  );
});

test('a path is one word of a shell, and no option', () => {
  expect(toApplyCommand(['my files', '-x'], NONE)).toBe("edgewise apply 'my files' ./-x");
  expect(toSavedCommand('$(rm x).json')).toBe("edgewise apply '$(rm x).json'");
});
