/**
 * The one function type that joins client and server. The client takes one, the bundled server is one;
 * retry and concurrency are decorators of it; undici, node:http and msw are adapters.
 * It rejects with `NetworkError` or `TimeoutError` when no response came.
 */
export type Transport = (request: Request) => Promise<Response>;

/** The value of the version header, whatever that header is called. Source: section 9 of the interface. */
export const API_VERSION = '2';

/** What the version header is called unless a setting says otherwise. Source: section 9 of the interface. */
export const DEFAULT_VERSION_HEADER = 'Service-Version';
