/** Renders a policy as a document. `match` is YAML in one line. */
export function toPolicyText(
  name: string,
  {
    require,
    message,
    match,
    severity,
  }: Readonly<Record<'require' | 'message', string> & Partial<Record<'match' | 'severity', string>>>,
): string {
  const lines = [
    '---',
    'apiVersion: edgewise/v1',
    'kind: Policy',
    'metadata:',
    `  name: ${name}`,
    'spec:',
    ...(match === undefined ? [] : [`  match: ${match}`]),
    `  require: ${JSON.stringify(require)}`,
    `  message: ${JSON.stringify(message)}`,
    ...(severity === undefined ? [] : [`  severity: ${severity}`]),
    '',
  ];
  return lines.join('\n');
}

/** Every resource must have a team. */
export const OWNED = toPolicyText('owned', {
  require: '"team" in labels',
  message: `Say in the label team whose \${change.address} is.`,
});
