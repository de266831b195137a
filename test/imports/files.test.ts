import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('comments name existing files', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = files.flatMap((file) => {
    const lines = readFileSync(join('src', file), 'utf8').match(/^\s*(?:\/?\*|\/\/).*/gm) ?? [];
    return lines.flatMap((line) =>
      Array.from(line.matchAll(/`([\w/-]+\.ts)`/g), ([, name = '']) => [file, name] as const),
    );
  });
  expect(named).not.toEqual([]);
  expect(named.filter(([, name]) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
});
