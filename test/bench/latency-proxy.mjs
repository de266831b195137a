import { connect, createServer } from 'node:net';

/** A proxy in front of a port of this machine that delays every byte in each direction: `latency-proxy.mjs PORT MILLISECONDS`. Prints its URL. */
const [port, delayMs] = process.argv.slice(2).map(Number);

function delay(from, to) {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
}

const server = createServer((near) => {
  const far = connect(port, '127.0.0.1').setNoDelay();
  near.setNoDelay();
  delay(near, far);
  delay(far, near);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
