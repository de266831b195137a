import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeField } from '../../src/kinds/canonical.ts';
import { isSpellingOf } from '../../src/kinds/spelling.ts';
import { DESCRIPTION, METADATA } from '../../src/kinds/tables/standard-fields.ts';
import type { Json } from '../../src/model/json.ts';
import { STORED_FORMS, type StoredForm } from '../../src/model/server-faults.ts';
import { toStoredForm } from '../../src/server/stored-forms.ts';
import { arbitraryText } from './arbitrary-texts.ts';
import { holds } from './properties.ts';

const isSpelling = (field: typeof DESCRIPTION, live: Json, desired: Json): boolean =>
  isSpellingOf(field, normalizeField(field, live), normalizeField(field, desired));

describe('a spelling', () => {
  const forms = fc.subarray([...STORED_FORMS]).map((some): ReadonlySet<StoredForm> => new Set(some));

  it('is every form in which a service stores a description', async () => {
    const property = fc.asyncProperty(arbitraryText(255), forms, async (text, stored) => {
      const live = toStoredForm(DESCRIPTION, text, stored);
      expect(isSpelling(DESCRIPTION, live, text), JSON.stringify([live, text])).toBe(true);
    });
    await holds(property, 500);
  });

  it('is every form in which a service stores metadata', async () => {
    const value = fc.oneof(
      arbitraryText(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const name = fc.constantFrom('team', 'é', 'e\u0301', 'with space', ' a', 'a.b', '1', 'constructor');
    const metadata = fc.dictionary(name, fc.oneof(value, fc.array(value, { maxLength: 2 })), { maxKeys: 3 });
    const property = fc.asyncProperty(metadata, forms, async (user, stored) => {
      const live = JSON.parse(String(toStoredForm(METADATA, JSON.stringify(user), stored)));
      const desired = JSON.parse(JSON.stringify(user));
      expect(isSpelling(METADATA, live, desired), JSON.stringify([live, user])).toBe(true);
    });
    await holds(property, 500);
  });

  it('is a matter of both sides, and never of an empty text', async () => {
    const property = fc.asyncProperty(arbitraryText(31), arbitraryText(31), async (left, right) => {
      expect(isSpelling(DESCRIPTION, left, right)).toBe(isSpelling(DESCRIPTION, right, left));
      expect(isSpelling(DESCRIPTION, '', right)).toBe(right.replaceAll('\u0085', '').trim() === '');
    });
    await holds(property, 500);
  });
});
