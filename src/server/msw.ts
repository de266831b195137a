import { HttpResponse, http, type RequestHandler } from 'msw';
import { NetworkError } from '../model/errors.ts';
import type { Server } from './server.ts';

/** Creates msw handlers that pass every request below a base URL to the bundled server, or to its accounts. */
export function createMswHandlers(server: Pick<Server, 'mountAt'>, baseUrl: string): RequestHandler[] {
  const transport = server.mountAt(baseUrl);
  const respond = async (request: Request): Promise<Response> => {
    try {
      return await transport(request);
    } catch (error) {
      if (error instanceof NetworkError) return HttpResponse.error();
      throw error;
    }
  };
  return [http.all(`${baseUrl.replace(/\/+$/, '')}/*`, ({ request }) => respond(request))];
}
