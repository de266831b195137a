import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/** Sends the requests of a file, wave after wave, and does nothing else: what an apply takes at least. */
const { origin, concurrency, waves } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pool = new Pool(origin, { connections: concurrency });

async function send({ method, path, headers, body }) {
  const response = await pool.request({ method, path, headers, body });
  const answer = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
}

for (const wave of waves) {
  const rest = wave.values();
  const work = async () => {
    for (const request of rest) await send(request);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
await pool.close();
