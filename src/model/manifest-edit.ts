import type { Json } from './json.ts';
import type { Place } from './place.ts';

/** Edits of one document of a manifest file, by which nothing else of the file changes. */
export interface ManifestEdit {
  /** The path as the user gave it. */
  readonly file: string;
  /** The text of the file as it was read, without a byte order mark. */
  readonly source: string;
  /** Parts of `source`, in UTF-16 units, and what replaces them. They do not overlap. */
  readonly edits: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  /** The document: where it starts in `source`, and the path to it if it is a member of a `List`. */
  readonly document: { readonly start: number; readonly base: readonly (string | number)[] };
  /** The fields of `spec` that change. `undefined`: the document is taken out. */
  readonly fields: readonly string[] | undefined;
}

/** Why a value cannot be written back. `finding`: a clause whose subject is the value, such as `comes from an alias`. */
export interface ManifestEditRefusal {
  readonly finding: string;
  readonly place: Place;
}

export type ManifestEditResult = ManifestEdit | { readonly refusals: readonly ManifestEditRefusal[] };

/** Edits the document of a resource. */
export interface EditableManifest {
  /** Sets fields of `spec`, as the manifest writes values: references are addresses. `undefined` removes a field. */
  readonly editFields: (fields: ReadonlyMap<string, Json | undefined>) => ManifestEditResult;
  /** Takes out the document. */
  readonly remove: () => ManifestEditResult;
}
