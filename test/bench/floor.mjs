import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/**
 * The least that the same requests take: sends those of a file, wave after wave, with undici and nothing else. Ids that the server
 * gives are put in place of those that the requests were recorded with.
 */
const { origin, headers, concurrency, waves } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new Pool(origin, { connections: concurrency });
const ids = new Map();

async function send({ method, path, body, id }) {
  const text = body?.replace(/bkdwd_\w+/g, (recorded) => ids.get(recorded) ?? recorded);
  const response = await pool.request({ method, path, headers, body: text });
  const answer = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
  if (id !== undefined) ids.set(id, JSON.parse(answer).id);
}

for (const wave of waves) {
  const rest = wave.values();
  const work = async () => {
    for (const request of rest) await send(request);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
await pool.close();
