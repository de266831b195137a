import { Pool } from 'undici';

/**
 * Many clients of one server at once, each of which sends its next request when the one before is answered. Takes one argument, JSON; prints one
 * line of it: how many requests were answered in how long, and how long single ones took.
 */

/** @type {{ origin: string, clients: number, requests: number, work: string, key: string }} */
const { origin, clients, requests, work, key } = JSON.parse(process.argv[2] ?? '{}');
const pool = new Pool(origin, { connections: clients, pipelining: 1 });
const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
const PATH = '/edges/tcp';

async function send(method, path, body) {
  const sent = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const answer = await pool.request({ method, path, headers: sent, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.body.text();
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return text;
}

let made = 0;
const create = async () => {
  made += 1;
  const description = `client ${process.pid} ${made}`;
  return JSON.parse(await send('POST', PATH, { description, hostports: [`c${process.pid}-${made}.example.net:443`] }))
    .id;
};

const page = JSON.parse(await send('GET', PATH)).tcp_edges.map(({ id }) => id);
const pick = (turn) => page[turn % page.length];
const list = () => send('GET', `${PATH}?limit=100`);
const getOne = (turn) => send('GET', `${PATH}/${pick(turn)}`);
const change = (turn) => send('PATCH', `${PATH}/${pick(turn)}`, { description: `turn ${turn}` });

/** One resource and what happens to it, with a page of the list: ten requests. */
const live = async (turn) => {
  const id = await create();
  for (let count = 0; count < 5; count += 1) await getOne(turn + count);
  await send('PATCH', `${PATH}/${id}`, { description: `turn ${turn}` });
  await send('GET', `${PATH}/${id}`);
  await list();
  await send('DELETE', `${PATH}/${id}`);
};

/** What a client does in one turn, and how many requests that takes. */
const WORKS = { get: [getOne, 1], list: [list, 1], create: [create, 1], change: [change, 1], mixed: [live, 10] };
const [act, size] = WORKS[work];

const times = [];
let turns = 0;
const start = performance.now();
await Promise.all(
  Array.from({ length: clients }, async () => {
    while (turns < requests / size) {
      turns += 1;
      const began = performance.now();
      await act(turns);
      times.push((performance.now() - began) / size);
    }
  }),
);
const seconds = (performance.now() - start) / 1000;
times.sort((left, right) => left - right);
const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
console.log(JSON.stringify({ answered: turns * size, seconds, p50Ms: at(0.5), p99Ms: at(0.99) }));
await pool.close();
