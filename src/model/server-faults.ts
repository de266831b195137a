/** The faults of the bundled server. */
export interface ServerFaults {
  /** Decides everything random. Default: 0. */
  readonly seed?: number;
  /** Of those that match a request, the first one applies, and in addition the first `latency`. */
  readonly rules: readonly FaultRule[];
}

/** One fault, and when it happens. */
export type FaultRule = FaultChoice &
  (
    | { readonly fault: 'latency'; readonly ms: FaultRange }
    | { readonly fault: 'throttle'; readonly retry_after?: number }
    | { readonly fault: 'status'; readonly code?: 500 | 502 | 503 | 504; readonly when?: FaultTime }
    | { readonly fault: 'reset' | 'content_type'; readonly when?: FaultTime }
    | { readonly fault: 'hang'; readonly ms?: number; readonly when?: FaultTime }
    | { readonly fault: 'cut' | 'broken_json' | 'no_next' }
    | { readonly fault: 'missing'; readonly resources?: number }
    | { readonly fault: 'left_out'; readonly fields?: readonly string[]; readonly share?: number }
    | { readonly fault: 'gone_cursor'; readonly code?: 400 | 404 }
    | { readonly fault: 'stale'; readonly changes?: number; readonly requests?: number }
  );

/** Which requests meet a fault. */
export interface FaultChoice {
  /** A method and a path, such as `POST /credentials` or `PATCH /edges/tcp/{id}`; `*` is any method, any text, or everything. */
  readonly on: string;
  /** Which of them, counted from 1. Default: every. */
  readonly nth?: FaultRange | readonly FaultRange[];
  /** Probability for each of them, 0 to 1. */
  readonly rate?: number;
  /** How often at most. Default: no limit. */
  readonly times?: number;
}

/** A number, or a text such as `3-5`. */
export type FaultRange = number | string;

/** Whether a fault comes before or after the request takes effect. */
export type FaultTime = 'before' | 'after';
