import { expect, it } from 'vitest';
import { redactError } from '../../src/client/api-error.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { createKeyRedactor } from '../../src/model/secrets.ts';

const KEY = 'dev';
const redact = createKeyRedactor(KEY);

/** An error whose stack contains the key as the name of a folder. */
function withKeyInStack<T extends Error>(error: T): T {
  error.stack = `${error.name}: ${error.message}\n    at call (/home/${KEY}/edgewise/cli.js:1:1)`;
  return error;
}

it.each([true, false])('removes the key from a network error: isUnsent %s', (isUnsent) => {
  const cause = new Error(`bad header ${KEY}`);
  const struck = redactError(withKeyInStack(new TimeoutError(`late: ${KEY}`, { cause, isUnsent })), redact);
  expect(struck).toBeInstanceOf(TimeoutError);
  expect(struck).toMatchObject({ message: 'late: [key]', isUnsent, cause: { message: 'bad header [key]' } });
});

it('returns an error without the key unchanged', () => {
  const other = createKeyRedactor('a-key-that-no-path-has');
  const error = new NetworkError('late');
  expect(redactError(error, other)).toBe(error);
  expect(redactError('late', other)).toBe('late');
});
