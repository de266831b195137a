import { Failure } from './failure.ts';

/** The failure to answer for a connection error; `undefined`: none, because nobody is left to read it. */
export function toConnectionFailure(error: Error): Failure | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('The headers of the request are too large', { code: 'headers_too_large' });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Failure('The chunk extensions of a body are too large', { code: 'body_too_large' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('The request took too long to arrive', { code: 'request_timeout' });
    default: {
      const reason = 'reason' in error && typeof error.reason === 'string' ? `: ${error.reason}` : '';
      return new Failure(`This is not HTTP/1.1${reason}`, { code: 'bad_request' });
    }
  }
}
