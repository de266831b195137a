import { applyManifestEdits } from '../manifest/edit-document.ts';
import type { Address } from '../model/address.ts';
import { type Change, listKnownDifferences } from '../model/change.ts';
import type { Danger } from '../model/danger.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, DriftedChange } from '../model/drift.ts';
import { parsePath, pathsOverlap, toManifestPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { ManifestEdit } from '../model/manifest-edit.ts';
import { looksLikeSecret } from '../model/secret-shapes.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import type { DriftedField, SelectedDrift, SkippedDrift } from './select-drift.ts';
import { type ReferenceNames, writeLiveFields } from './written-fields.ts';

/**
 * Turns what a user accepts of a drift into edits of the manifests, and tries them: the files are parsed, validated and
 * compared with the live state once more, and what does not end as asked is refused. Writes nothing.
 */

/** A manifest file before and after. */
export interface AcceptedFile {
  /** The path as the user gave it. */
  readonly file: string;
  /** Without a byte order mark. */
  readonly before: string;
  /** `undefined`: no document is left, and the file is removed. */
  readonly after: string | undefined;
}

/** A field that is written back, or a document that is taken out. */
export interface AcceptedDrift {
  readonly address: Address;
  /** Absent: the resource does not exist, and its document is taken out. */
  readonly field?: string | undefined;
  /** The dangers of what happened. */
  readonly dangers: readonly Danger[];
}

/** Drift that is not accepted, because it was not named. */
export interface LeftOutDrift extends AcceptedDrift {
  /** A clause whose subject is the field or the resource. */
  readonly reason: string;
  readonly remedy?: string | undefined;
}

export interface AcceptResult {
  readonly files: readonly AcceptedFile[];
  readonly accepted: readonly AcceptedDrift[];
  readonly leftOut: readonly LeftOutDrift[];
  /** What was asked for and cannot be written back, as errors with places and reasons. */
  readonly refused: readonly Diagnostic[];
  /** What the manifests were compared with. */
  readonly drift: Drift;
}

export interface AcceptInput {
  readonly drift: Drift;
  readonly selected: SelectedDrift;
  readonly desired: DesiredState;
  readonly names: ReferenceNames;
  /** Validates the manifests with other texts of some files. */
  readonly validate: (files: readonly AcceptedFile[]) => {
    readonly state: DesiredState | undefined;
    readonly diagnostics: readonly Diagnostic[];
  };
  /** Compares other manifests with the same live state. */
  readonly compare: (state: DesiredState) => readonly Change[];
}

/** A resource that can be written back so far. */
interface Candidate {
  readonly resource: DesiredResource;
  readonly change: DriftedChange;
  /** Empty: its document is taken out. */
  readonly fields: readonly DriftedField[];
  readonly edit: ManifestEdit;
}

export function acceptDrift(input: AcceptInput): AcceptResult {
  const { drift, selected } = input;
  const skipped = selected.refused.map((one) => createRefusalOfSkipped(one, input));
  const refused: Diagnostic[] = [...new Map(skipped.map((one) => [one.message, one])).values()];
  let candidates = listCandidates(input, refused);
  for (;;) {
    const tried = tryEdits(candidates, input);
    refused.push(...tried.refused);
    if (tried.kept.length === candidates.length) return { ...createResult(tried.kept, input), refused, drift };
    candidates = tried.kept;
  }
}

function createResult(
  candidates: readonly Candidate[],
  { selected }: AcceptInput,
): Pick<AcceptResult, 'files' | 'accepted' | 'leftOut'> {
  return {
    files: editFiles(candidates).map(({ file }) => file),
    accepted: candidates.flatMap(({ change: { address }, fields }): readonly AcceptedDrift[] =>
      fields.length === 0
        ? [{ address, dangers: [] }]
        : fields.map(({ field, dangers }) => ({ address, field, dangers })),
    ),
    leftOut: selected.leftOut.map(({ change, ...rest }) => ({ address: change.address, ...rest })),
  };
}

/** Computes the edits of each resource. Adds those that cannot be edited to `refused`. */
function listCandidates(input: AcceptInput, refused: Diagnostic[]): readonly Candidate[] {
  const { selected, desired, names } = input;
  const refusedAddresses = new Set(selected.refused.map(({ change }) => change.address));
  const candidates: Candidate[] = [];
  const add = (change: DriftedChange, fields: readonly DriftedField[]): void => {
    const resource = desired.resources.get(change.address);
    if (resource === undefined || refusedAddresses.has(change.address)) return;
    const written = writeFields(resource, { change, fields }, names);
    const secret = [...written].find(([field, to]) => containsNewSecret(resource.written[field], to))?.[0];
    const result =
      secret === undefined
        ? fields.length === 0
          ? resource.manifest.remove()
          : resource.manifest.editFields(written)
        : { refusals: [{ finding: 'looks like a secret', place: resource.locate(['spec', secret]) }] };
    if ('refusals' in result)
      refused.push(...result.refusals.map(({ finding, place }) => createRefusal(change, { finding, place })));
    else candidates.push({ resource, change, fields, edit: result });
  };
  for (const [change, fields] of Map.groupBy(selected.fields, (one) => one.change)) add(change, fields);
  for (const { change } of selected.vanished) add(change, []);
  return candidates;
}

function writeFields(
  { written }: DesiredResource,
  { change, fields }: Pick<Candidate, 'change' | 'fields'>,
  names: ReferenceNames,
): ReadonlyMap<string, Json | undefined> {
  return writeLiveFields(change, { written, differences: fields.flatMap(({ differences }) => differences) }, names);
}

/** Whether a value has a text that looks like a secret and that the manifest does not have there. */
function containsNewSecret(from: Json | undefined, to: Json | undefined): boolean {
  const known = new Set(listTexts(from ?? null));
  return listTexts(to ?? null).some((text) => !known.has(text) && looksLikeSecret(text));
}

function listTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.flatMap(listTexts);
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, member]) => [key, ...listTexts(member)]) : [];
}

interface Tried {
  readonly kept: readonly Candidate[];
  readonly refused: readonly Diagnostic[];
}

/** Makes all edits, and refuses those that do not end as asked. */
function tryEdits(candidates: readonly Candidate[], { validate, compare }: AcceptInput): Tried {
  if (candidates.length === 0) return { kept: [], refused: [] };
  const files = editFiles(candidates);
  const inexact = files.flatMap((one) => (one.isExact ? [] : listInexact(one.candidates)));
  if (inexact.length > 0) return refuseAll(candidates, inexact, () => NOT_ALONE);
  const { state, diagnostics } = validate(files.map(({ file }) => file));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (state === undefined || errors.length > 0) {
    const named = candidates.filter(({ change }) => errors.some(({ address }) => address === change.address));
    return refuseAll(candidates, named.length > 0 ? named : candidates, ({ change }) => {
      const own = errors.find(({ address }) => address === change.address) ?? errors[0];
      return `makes the manifests invalid: ${own?.message ?? 'they have no stack'}`;
    });
  }
  const after = new Map(compare(state).map((change) => [change.address, change]));
  const differing = candidates.filter(({ fields, change }) => isDifferent(fields, after.get(change.address)));
  return refuseAll(candidates, differing, () => 'differs from what a manifest can describe');
}

const NOT_ALONE = 'cannot be written without changing something else in its file';

function refuseAll(
  all: readonly Candidate[],
  refused: readonly Candidate[],
  describe: (candidate: Candidate) => string,
): Tried {
  return {
    kept: all.filter((one) => !refused.includes(one)),
    refused: refused.map((one) => {
      const [first] = one.fields;
      const place = one.resource.locate(first === undefined ? [] : ['spec', first.field]);
      return createRefusal(one.change, { finding: describe(one), place });
    }),
  };
}

/** Whether a part of what was accepted still differs. */
function isDifferent(fields: readonly DriftedField[], after: Change | undefined): boolean {
  const left = (after === undefined ? [] : listKnownDifferences(after)).map(({ path }) => parsePath(path) ?? []);
  return fields.some(({ differences }) =>
    differences.some(({ path }) => left.some((one) => pathsOverlap(one, parsePath(path) ?? []))),
  );
}

interface TriedFile {
  readonly file: AcceptedFile;
  readonly isExact: boolean;
  readonly candidates: readonly Candidate[];
}

function editFiles(candidates: readonly Candidate[]): readonly TriedFile[] {
  return [...Map.groupBy(candidates, ({ edit }) => edit.file)].map(([file, own]) => {
    const { text, isExact } = applyManifestEdits(own.map(({ edit }) => edit));
    return { file: { file, before: own[0]?.edit.source ?? '', after: text }, isExact, candidates: own };
  });
}

/** Of the edits of a file, those that are not exact alone. If each is, all of them. */
function listInexact(candidates: readonly Candidate[]): readonly Candidate[] {
  const alone = candidates.filter(({ edit }) => !applyManifestEdits([edit]).isExact);
  return alone.length > 0 ? alone : candidates;
}

function createRefusalOfSkipped({ change, field, reason, remedy }: SkippedDrift, { desired }: AcceptInput): Diagnostic {
  const resource = desired.resources.get(change.address);
  const place = resource?.locate(toManifestPath(field));
  const finding = field === undefined ? reason : `${field} ${reason}`;
  return createRefusal(change, { finding, place, remedy });
}

function createRefusal(
  { address }: DriftedChange,
  {
    finding,
    place,
    remedy = 'Nothing of this resource was written. Change the manifest by hand.',
  }: {
    readonly finding: string;
    readonly place: Diagnostic['place'];
    readonly remedy?: string | undefined;
  },
): Diagnostic {
  return { code: 'accept-refused', severity: 'error', message: `${address}: ${finding}`, remedy, address, place };
}
