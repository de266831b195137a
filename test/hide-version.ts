import packageJson from '../package.json' with { type: 'json' };

/** Returns a report with VERSION for the version of the package, so that a golden is the same for the next one. */
export function hideVersion(report: string): string {
  const { version } = packageJson;
  return report
    .replaceAll(`edgewise ${version}</sub>`, 'edgewise VERSION</sub>')
    .replaceAll(/(?<="name": "edgewise",\n +"version": ")[^"]+/g, (found) => (found === version ? 'VERSION' : found));
}
