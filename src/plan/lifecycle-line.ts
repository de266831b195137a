import type { DesiredResource } from '../model/state.ts';

/** A line of lifecycle to add, and where: to the lifecycle that the manifest has, or as one. Follows a comma in a remedy. */
export function toPlacedLifecycleLine(resource: DesiredResource, line: string): string {
  const [{ file, line: start }, block] = [resource.locate(), resource.locate(['lifecycle'])];
  return hasLifecycle(resource)
    ? `add to its lifecycle at ${block.file}:${block.line}:\n${line}`
    : `add to the document that starts at ${file}:${start}:\nlifecycle: { ${line} }`;
}

/** The same where the diagnostic shows the document anyway. */
export function toLifecycleLine(resource: DesiredResource, line: string): string {
  return hasLifecycle(resource) ? `add to its lifecycle:\n${line}` : `add to this document:\nlifecycle: { ${line} }`;
}

function hasLifecycle({ locate }: DesiredResource): boolean {
  const [start, block] = [locate(), locate(['lifecycle'])];
  return start.line !== block.line || start.column !== block.column;
}
