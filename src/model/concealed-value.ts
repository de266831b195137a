/**
 * A value that no output shows, in the place of the text in every spec, plan and request above the client. Values are
 * concealed when they are read, and revealed when a request is sent, so nothing else can print or save one.
 *
 * It is known by its class, which no JSON and no YAML can have: whatever a manifest, the service or a file spells stays
 * a text or an object. `secret-value.ts` has what is done with concealed values.
 */
export class ConcealedValue {
  /**
   * The text of a manifest that names variables, such as `Bearer ${secret:NAME}`. Absent: a live value, or a value that a
   * manifest has in clear in a place that is named like a secret.
   */
  readonly template: string | undefined;
  /** Within a run, equal values have equal numbers. Absent: a variable of the template has no value, or is not offered. */
  readonly number: number | undefined;
  /** Only for a hidden value within a run: whether it is a number and no text, so that no variable can stand for it. */
  readonly isNumeric: boolean;

  private constructor(template: string | undefined, number: number | undefined, isNumeric = false) {
    this.template = template;
    this.number = number;
    this.isNumeric = isNumeric;
  }

  static hidden(number: number, { isNumeric = false } = {}): HiddenValue {
    return new ConcealedValue(undefined, number, isNumeric) as HiddenValue; // it has a number, and no template
  }

  static secret(template: string, number?: number): SecretValue {
    return new ConcealedValue(template, number) as SecretValue; // it has a template
  }

  /** As files spell it. `toFileJson` escapes the keys of users that look the same. */
  toJSON(): { readonly $secret: string } | { readonly $hidden: number } {
    return this.template === undefined ? { $hidden: this.number ?? 0 } : { $secret: this.template };
  }
}

export type SecretValue = ConcealedValue & { readonly template: string };
export type HiddenValue = ConcealedValue & { readonly template: undefined; readonly number: number };

/**
 * @example
 * const shown = isConcealed(value) ? '(hidden)' : value;
 */
export function isConcealed(value: unknown): value is ConcealedValue {
  return value instanceof ConcealedValue;
}
