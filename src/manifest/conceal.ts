import { mapPossibleSecrets, type PossibleSecret } from '../kinds/conceal.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isVariableForbiddenInManifests } from '../model/api-key.ts';
import { isConcealed } from '../model/concealed-value.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, mapMembers, mapObjectMembers } from '../model/json.ts';
import { fillTemplate, isSecretValue, listSecretNames, unescapePlaceholders } from '../model/secret-value.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { findSecretVariable, type ManifestEnvironment } from './environment.ts';
import type { DocumentFinding, ManifestDocument } from './finding.ts';
import { RUN_SECRET_REMEDY } from './secrets.ts';

interface ConcealContext {
  readonly env: ManifestEnvironment;
  readonly secrets: Pick<SecretRedactor, 'seal' | 'publish' | 'hide' | 'addVariable' | 'find'>;
}

/**
 * Replaces the secrets in manifests by concealed values, so that no other code sees them: each text with `${secret:NAME}`,
 * and each text in clear whose place is named like a secret. Reports placeholders in other fields.
 */
export function concealDocuments(
  documents: readonly ManifestDocument[],
  context: ConcealContext,
): { readonly documents: readonly ManifestDocument[]; readonly findings: readonly DocumentFinding[] } {
  // Variables that invalid documents name are registered, too: a message about one may quote the value.
  for (const name of documents.flatMap(({ value }) => listSecretNamesInside(value)))
    context.secrets.addVariable(name, findSecretVariable(name, context.env) ?? '');
  // Every secret is known before another text in clear is judged, so that the order of documents does not matter.
  const sealed = documents.map((document) => mapSecretsOfDocument(document, (found) => conceal(found, context)));
  const findings = sealed.flatMap((document) =>
    listFindings(document, context).map((finding) => ({ subject: document, finding })),
  );
  const publish = ({ value }: PossibleSecret): Json =>
    typeof value === 'string' ? context.secrets.publish(unescapePlaceholders(value)) : value;
  return { documents: sealed.map((document) => unescapeOthers(mapSecretsOfDocument(document, publish))), findings };
}

function listSecretNamesInside(value: Json): readonly string[] {
  if (typeof value === 'string') return listSecretNames(value);
  if (isJsonArray(value)) return value.flatMap(listSecretNamesInside);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [...listSecretNames(key), ...listSecretNamesInside(member)]);
}

function mapSecretsOfDocument(document: ManifestDocument, replace: (found: PossibleSecret) => Json): ManifestDocument {
  const kind = findKind(document.kind);
  const { spec } = document.value;
  if (kind === undefined || !document.isValid || !isJsonObject(spec)) return document;
  const replaced: Spec = mapPossibleSecrets(kind, spec, replace);
  return { ...document, value: { ...document.value, spec: replaced } };
}

function conceal({ value, isNamed }: PossibleSecret, { env, secrets }: ConcealContext): Json {
  if (typeof value !== 'string') return secrets.hide(value);
  if (listSecretNames(value).length === 0) return isNamed ? secrets.hide(unescapePlaceholders(value)) : value;
  return secrets.seal(value, fillFromEnvironment(value, env));
}

function fillFromEnvironment(template: string, env: ManifestEnvironment): string | undefined {
  return fillTemplate(template, (name) => findSecretVariable(name, env));
}

function listFindings({ value, isValid }: ManifestDocument, { env, secrets }: ConcealContext): readonly Finding[] {
  if (!isValid) return [];
  return listPlaceholders(value, []).flatMap(({ name, template, path, isSecret }): readonly Finding[] => {
    if (!isSecret) return [createMisplacedFinding(name, path)];
    if (isVariableForbiddenInManifests(name)) return [createForbiddenFinding(name, path)];
    if (env.offered.includes(name)) return [createShownFinding(name, path)];
    const runSecret = secrets.find(fillFromEnvironment(template, env) ?? '');
    return runSecret === undefined ? [] : [createRunSecretFinding(runSecret.name, path)];
  });
}

interface Placeholder {
  readonly name: string;
  readonly template: string;
  readonly path: FieldPath;
  /** Whether it is in a field that may have a secret. */
  readonly isSecret: boolean;
}

/** Lists each `${secret:NAME}` in a document whose secrets are concealed. */
function listPlaceholders(value: Json, path: FieldPath): readonly Placeholder[] {
  const toPlaceholders = (template: string, isSecret: boolean): readonly Placeholder[] =>
    listSecretNames(template).map((name) => ({ name, template, path, isSecret }));
  if (typeof value === 'string') return toPlaceholders(value, false);
  if (isConcealed(value)) return isSecretValue(value) ? toPlaceholders(value.template, true) : [];
  if (isJsonArray(value)) return value.flatMap((member, index) => listPlaceholders(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => listPlaceholders(member, [...path, key]));
}

function createMisplacedFinding(name: string, path: FieldPath): Finding {
  return {
    code: 'secret-in-manifest',
    message: `\${secret:${name}} cannot be used here, because this field is shown, stored or compared as text`,
    remedy:
      "Use it in values of request_headers.add, or in members of a policy's config whose names look like secrets.",
    path,
  };
}

function createForbiddenFinding(name: string, path: FieldPath): Finding {
  return {
    code: 'env-reference',
    message: `the environment variable ${name} is for an API key or a token, which no manifest can have`,
    remedy: 'Remove it.',
    path,
  };
}

function createShownFinding(name: string, path: FieldPath): Finding {
  return {
    code: 'env-reference',
    message: `the environment variable ${name} is offered as a variable, which outputs show, and not as a secret`,
    remedy: 'Name another variable: one that may be shown is not a secret.',
    path,
  };
}

function createRunSecretFinding(secret: string, path: FieldPath): Finding {
  return {
    code: 'secret-in-manifest',
    message: `this would contain ${secret}`,
    remedy: RUN_SECRET_REMEDY,
    path,
  };
}

/** Resolves the escapes of placeholders in all other texts. */
function unescapeOthers(document: ManifestDocument): ManifestDocument {
  const value = mapObjectMembers(document.value, unescapeJson);
  return value === document.value ? document : { ...document, value };
}

function unescapeJson(value: Json): Json {
  return typeof value === 'string' ? unescapePlaceholders(value) : mapMembers(value, unescapeJson);
}

/** Lists the paths of the concealed values in a document. */
export function listConcealedPaths(value: Json, path: FieldPath = []): readonly FieldPath[] {
  if (isConcealed(value)) return [path];
  if (isJsonArray(value)) return value.flatMap((member, index) => listConcealedPaths(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => listConcealedPaths(member, [...path, key]));
}
