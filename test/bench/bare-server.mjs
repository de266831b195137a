import { createServer } from 'node:http';

/**
 * A server that does nothing: it reads the body of a request and answers a constant, an edge or a page of a hundred. No server that is
 * made of node:http can be faster. Prints where it listens, as `edgewise serve` does.
 */
const EDGE = {
  id: 'edgtcp_000000000000000000000000000',
  uri: 'http://127.0.0.1:4750/edges/tcp/edgtcp_000000000000000000000000000',
  created_at: '2026-01-01T00:00:00Z',
  description: 'edge 00000',
  metadata: '',
  hostports: ['e00000.example.net:443'],
  backend: null,
  ip_restriction: null,
  policy: null,
};
const [ONE, PAGE] = [EDGE, { tcp_edges: Array.from({ length: 100 }, () => EDGE) }].map((value) =>
  JSON.stringify(value),
);

const server = createServer((incoming, outgoing) => {
  const body = incoming.method === 'GET' && /^\/edges\/tcp(\?|$)/.test(incoming.url ?? '') ? PAGE : ONE;
  const answer = () => {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    outgoing.end(body);
  };
  if (incoming.method === 'GET') answer();
  else incoming.on('data', () => undefined).on('end', answer);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});
process.on('SIGINT', () => server.close(() => process.exit()));
