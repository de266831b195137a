import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { AbuseReportRule } from './abuse-report-rules.ts';
import type { ApiKey } from './api-key.ts';
import type { CertificateAuthorities } from './certificate-authority.ts';
import type { Identities } from './identities.ts';
import type { StoredResource } from './store.ts';

/** What a behaviour may use. */
export interface Tools {
  readonly now: Date;
  readonly identities: Identities;
  readonly authorities: CertificateAuthorities;
  readonly abuseReportRules: readonly AbuseReportRule[];
}

/** What the server does for one kind that a table of fields cannot say. Each part is optional; a `Failure` refuses the request. */
export interface Behaviour {
  /** Refuses what this caller may not create. */
  readonly authorize?: (caller: ApiKey, spec: Spec) => void;
  /** Fills in what the service chooses at creation. */
  readonly complete?: (spec: Spec, caller: ApiKey, now: Date) => Spec;
  /** What to keep beside the spec, at creation and after each change. */
  readonly remember?: (resource: StoredResource, before: StoredResource | undefined, tools: Tools) => JsonObject;
  /** What to keep beside the spec of a resource that another service made, from its computed fields. */
  readonly recall?: (resource: StoredResource, computed: JsonObject) => JsonObject;
  /** The computed fields, as of now. */
  readonly compute?: (resource: StoredResource, now: Date) => JsonObject;
  /** The one-time fields, for the response to the creation. */
  readonly reveal?: (resource: StoredResource, tools: Tools) => JsonObject;
  /** The response to a PATCH that gave these fields. */
  readonly showUpdate?: (document: JsonObject, given: Spec) => JsonObject;
}
