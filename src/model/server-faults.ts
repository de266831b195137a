import type { JsonObject } from './json.ts';

/** Faults that the bundled server injects. */
export interface ServerFaults {
  /** Seed of every random choice. Default: 0. */
  readonly seed?: number;
  /** The first rule that matches a request applies. The first matching `latency` rule applies in addition. */
  readonly rules: readonly FaultRule[];
}

/** A fault, and the requests that it affects. */
export type FaultRule = FaultRequestSelector &
  (
    | { readonly fault: 'latency'; readonly ms: NumberOrRange }
    | { readonly fault: 'throttle'; readonly retry_after?: number }
    | { readonly fault: 'status'; readonly code?: 500 | 502 | 503 | 504; readonly when?: FaultTime }
    | { readonly fault: 'reset' | 'content_type'; readonly when?: FaultTime }
    | { readonly fault: 'hang'; readonly ms?: number; readonly when?: FaultTime }
    | { readonly fault: 'cut' | 'broken_json' | 'no_next' }
    | { readonly fault: 'missing'; readonly resources?: number }
    | { readonly fault: 'left_out'; readonly fields?: readonly string[]; readonly share?: number }
    | { readonly fault: 'normalise'; readonly forms?: readonly StoredForm[] }
    | { readonly fault: 'other_values'; readonly values: JsonObject }
    | { readonly fault: 'cut_metadata'; readonly bytes?: number }
    | { readonly fault: 'cached'; readonly when?: FaultTime }
    | { readonly fault: 'no_effect' }
    | { readonly fault: 'gone_cursor'; readonly code?: 400 | 404 }
    | { readonly fault: 'wrong_date'; readonly seconds: number }
    | { readonly fault: 'late_release'; readonly ms: NumberOrRange }
    | { readonly fault: 'stale'; readonly changes?: number; readonly requests?: number }
  );

/** Selects the requests that a fault affects. */
export interface FaultRequestSelector {
  /**
   * The method and the path, such as `POST /credentials` or `PATCH /edges/tcp/{id}`. `*` as the method, or in the path,
   * matches any text. `*` alone matches every request.
   */
  readonly on: string;
  /** Which of the matching requests, counted from 1. Default: all of them. */
  readonly nth?: NumberOrRange | readonly NumberOrRange[];
  /** Probability of the fault for each selected request, 0 to 1. */
  readonly rate?: number;
  /** Maximum number of times that the fault is injected. Default: no limit. */
  readonly times?: number;
}

/** A number, or a range such as `3-5`. */
export type NumberOrRange = number | string;

/** Whether the fault happens before or after the request takes effect. */
export type FaultTime = 'before' | 'after';

/** Forms in which services store values. The values mean the same, and the texts for people differ in spelling. */
export const STORED_FORMS = [
  'trimmed',
  'collapsed',
  'nfc',
  'lower_case',
  'cut',
  'escaped',
  'nulls_dropped',
  'numbers_as_text',
  'sorted',
  'a_labels',
  'unicode',
  'cidr',
  'float32',
  'times',
  'defaults',
  'backdated',
  'left_out',
] as const;

export type StoredForm = (typeof STORED_FORMS)[number];
