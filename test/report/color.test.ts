import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { createPainter } from '../../src/report/text/layout.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('leaves a text unchanged without colour', () => {
  vi.stubEnv('FORCE_COLOR', '1');
  expect(createPainter(false)('error', 'x')).toBe('x');
});

test('colours a text with colour, whatever the environment', () => {
  vi.stubEnv('NO_COLOR', '1');
  vi.stubEnv('NODE_DISABLE_COLORS', '1');
  expect(createPainter(true)('removed', 'x')).toBe('\u001b[31mx\u001b[39m');
  const error = createPainter(true)('error', 'x');
  expect(error).toContain('\u001b[31m');
  expect(stripVTControlCharacters(error)).toBe('x');
});

test('gives no colour to an empty text', () => {
  expect(createPainter(true)('strong', '')).toBe('');
});
