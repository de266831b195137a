import { http, type RequestHandler } from 'msw';
import type { Server } from './server.ts';

/** Handlers for msw that answer every request below a base URL with the bundled server. */
export function createMswHandlers(server: Server, baseUrl: string): RequestHandler[] {
  const transport = server.at(baseUrl);
  return [http.all(`${baseUrl.replace(/\/+$/, '')}/*`, ({ request }) => transport(request))];
}
