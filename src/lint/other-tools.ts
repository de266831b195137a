import { isConcealed } from '../model/concealed-value.ts';
import { formatPath } from '../model/field-path.ts';
import type { UncodedFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';
import type { LintedResource } from './rule.ts';

/** What manifests have of other tools: values that a tool should have filled in, and annotations that only a tool reads. */

/** A text that a tool replaces before a manifest is read. */
interface Placeholder {
  readonly pattern: RegExp;
  /** Its general form. A value in the place of a secret is not quoted. */
  readonly form: string;
  readonly tool: string;
}

/** Sources: the documentation of each tool. */
const PLACEHOLDERS: readonly Placeholder[] = [
  { pattern: /ENC\[AES256_GCM,/, form: 'ENC[AES256_GCM,…]', tool: 'sops' },
  { pattern: /ENC\[[A-Z][A-Z0-9]*,/, form: 'ENC[…]', tool: 'hiera-eyaml, or another tool that decrypts' },
  { pattern: /<path:[^<>\n]+>/, form: '<path:…>', tool: 'argocd-vault-plugin' },
  { pattern: /\b(?:secret)?ref\+[a-z0-9]+:\/\//, form: 'ref+…://…', tool: 'vals' },
  { pattern: /\bop:\/\/[^\s/]+\/[^\s/]+\//, form: 'op://…', tool: 'op inject of 1Password' },
  { pattern: /\$\([A-Za-z_][\w.-]*\)/, form: '$(…)', tool: 'Azure Pipelines or Kubernetes' },
  {
    pattern: /\{\{(?:[^{}]|\}(?!\}))*\}\}/,
    form: '{{ … }}',
    tool: 'a template engine (Helm, Ansible)',
  },
  { pattern: /#\{[^{}\n]+\}#?/, form: '#{…}#', tool: 'Replace Tokens or Octopus Deploy' },
];

export function checkUnfilledValues({ resource }: LintedResource): readonly UncodedFinding[] {
  return listSentTexts(resource, resource.spec, ['spec']).flatMap(({ path, text }) => {
    const found = findPlaceholderOfTool(text);
    if (found === undefined) return [];
    const { form, tool } = found;
    const message = `${formatPath(path)} contains \`${form}\`, which is for ${tool} to replace`;
    return [{ path, message, remedy: `Let ${tool} write the manifest first. ${REMEDY_TO_SEND}` }];
  });
}

const REMEDY_TO_SEND = 'To send the text as it is, name this rule under lint.allow.';

/** Whether a value is no secret in plain text, because a tool still has to replace it. */
export function isUnfilled(resource: DesiredResource, path: FieldPath): boolean {
  return findPlaceholderOfTool(resource.readSource(path)) !== undefined;
}

function findPlaceholderOfTool(text: string): Placeholder | undefined {
  return PLACEHOLDERS.find(({ pattern }) => pattern.test(text));
}

interface SentText {
  readonly path: FieldPath;
  readonly text: string;
}

/** Lists the texts and keys that are sent. Of a hidden value, the manifest has the text. */
function listSentTexts(resource: DesiredResource, value: Json, path: FieldPath): readonly SentText[] {
  if (isConcealed(value)) return value.isNumeric ? [] : [{ path, text: resource.readSource(path) }];
  if (typeof value === 'string') return [{ path, text: value }];
  if (isJsonArray(value)) return value.flatMap((member, index) => listSentTexts(resource, member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(findPlaceholderOfTool(key) === undefined ? [] : [{ path: [...path, key], text: key }]),
    ...listSentTexts(resource, member, [...path, key]),
  ]);
}

/** The annotations with which other tools keep a resource, and which values do. */
const KEEPERS: readonly (readonly [annotation: string, value: RegExp, tool: string])[] = [
  ['helm.sh/resource-policy', /^\s*keep\s*$/, 'Helm'],
  ['argocd.argoproj.io/sync-options', /(?:^|,)\s*(?:Prune|Delete)=false\s*(?:,|$)/, 'Argo CD'],
  ['kustomize.toolkit.fluxcd.io/prune', /^\s*disabled\s*$/, 'Flux'],
];

export function checkKeepingAnnotations({ resource }: LintedResource): readonly UncodedFinding[] {
  const { annotations, lifecycle } = resource;
  if (lifecycle.protect) return [];
  return KEEPERS.flatMap(([name, value, tool]) => {
    const text = annotations[name];
    if (text === undefined || !value.test(text)) return [];
    const message = `the annotation ${name} keeps the resource for ${tool} only: edgewise deletes it when its manifest is removed`;
    return [{ path: ['metadata', 'annotations', name], message }];
  });
}
