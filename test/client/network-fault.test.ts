import { describe, expect, it } from 'vitest';
import { toThrownNetworkError } from '../../src/client/api-error.ts';
import { InvariantError, NetworkError, TimeoutError } from '../../src/model/errors.ts';

const REQUEST = new Request('https://api.example.test/x?a=1');

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe('toNetworkError', () => {
  it.each([
    ['ENOTFOUND', 'the host name does not exist'],
    ['EAI_AGAIN', 'the host name could not be resolved'],
    ['ECONNRESET', 'the connection was lost'],
    ['EPIPE', 'the connection was lost'],
    ['SOMETHING_ELSE', 'the request failed'],
  ])('explains %s, with the URL and the message of the system', (code, sentence) => {
    const cause = withCode(code, 'as the system says');
    const error = toThrownNetworkError(cause, REQUEST);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).not.toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      message: `GET https://api.example.test/x?a=1: ${sentence} (as the system says)`,
      cause,
    });
  });

  it.each(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'])('recognises %s as a timeout', (code) => {
    const error = toThrownNetworkError(withCode(code, 'late'), REQUEST);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toHaveProperty('message', expect.stringContaining('could not connect in time (late)'));
  });

  it.each([
    ['ECONNREFUSED', true],
    ['ENOTFOUND', true],
    ['EAI_AGAIN', true],
    ['UND_ERR_CONNECT_TIMEOUT', true],
    ['ECONNRESET', false],
    ['UND_ERR_HEADERS_TIMEOUT', false],
    ['ETIMEDOUT', false],
    ['SOMETHING_ELSE', false],
  ])('says whether a request certainly did not reach the service: %s, %s', (code, isUnsent) => {
    expect(toThrownNetworkError(withCode(code, ''), REQUEST)).toHaveProperty('isUnsent', isUnsent);
  });

  it('finds the cause below the errors of fetch', () => {
    const error = new TypeError('fetch failed', { cause: withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:1') });
    expect(toThrownNetworkError(error, REQUEST)).toHaveProperty(
      'message',
      'GET https://api.example.test/x?a=1: the connection was refused (connect ECONNREFUSED ::1:1)',
    );
  });

  it('finds the cause among those of the addresses of a host', () => {
    const error = new AggregateError([withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:1'), new Error('other')]);
    expect(toThrownNetworkError(error, REQUEST)).toHaveProperty(
      'message',
      'GET https://api.example.test/x?a=1: the connection was refused (connect ECONNREFUSED ::1:1)',
    );
  });

  it('returns an error for anything that a transport throws', () => {
    expect(toThrownNetworkError('odd', REQUEST)).toMatchObject({
      message: 'GET https://api.example.test/x?a=1: the request failed',
      cause: 'odd',
    });
  });

  it.each([new NetworkError('a'), new TimeoutError('b'), new InvariantError('c')])(
    'returns a %s unchanged',
    (error) => {
      expect(toThrownNetworkError(error, REQUEST)).toBe(error);
    },
  );
});
