/** What the demo, and with it the pictures of the README, do to the edge of examples/quickstart behind the back of git: the body of a PATCH. */
export const HAND_CHANGE = { hostports: ['1.tcp.example.net:20999'] } as const;

/** The line that they change in its manifests. */
export const LINE_CHANGE = {
  file: 'postgres-pool.yaml',
  from: 'External/blue: 90',
  to: 'External/blue: 50',
} as const;
