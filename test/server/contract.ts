import { afterEach, describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { readResource } from '../../src/kinds/read-response.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/state.ts';
import { type Answer, type Call, createCaller, getList, getText } from './caller.ts';
import type { ContractTarget } from './contract-target.ts';

/** How to create resources of a kind, for the claims about every kind. */
export interface Sample {
  readonly kind: Kind;
  /** A body for a POST. Bodies with different numbers can exist side by side; there are at least three. */
  readonly create: (number: number, ids: ContractTarget['ids']) => JsonObject;
  /** Fields for a PATCH, other than description and metadata. */
  readonly update?: (ids: ContractTarget['ids']) => JsonObject;
  /** A field that a PATCH cannot change, with another value for it. */
  readonly immutable?: JsonObject;
}

const MAX_DESCRIPTION = 'é'.repeat(127);
const MAX_METADATA = `${'é'.repeat(2047)}xx`;

/** Distinguishes the unique values of this run from those of other runs on the same account. */
export const RUN = Date.now().toString(36);

/** A caller that deletes the resources that it created after each test, the newest first. */
export function useCleanCaller(target: ContractTarget): Call {
  const call = createCaller(target);
  const created: string[] = [];
  afterEach(async () => {
    for (const path of created.splice(0).reverse()) await call('DELETE', path);
  });
  return async (method, path, options) => {
    const answer = await call(method, path, options);
    if (method === 'POST' && answer.status === 201) created.push(`${path}/${getText(answer.body['id'])}`);
    return answer;
  };
}

/** Claims about every kind that can be created, listed, changed and deleted. */
export function describeKind(target: ContractTarget, { kind, create, update, immutable }: Sample): void {
  describe(kind.title, () => {
    const call = useCleanCaller(target);
    const post = (number: number, more: JsonObject = {}): Promise<Answer> =>
      call('POST', kind.path, { body: { ...create(number, target.ids), ...more } });
    const pathOf = ({ body }: Answer): string => `${kind.path}/${getText(body['id'])}`;

    it('is created with 201, an id with its prefix, a URI and the time of creation', async () => {
      const { status, body } = await post(0);
      expect(status).toBe(201);
      expect(body).toMatchObject({ id: expect.stringMatching(new RegExp(`^${kind.idPrefix}_.+`)) });
      expect(getText(body['uri'])).toMatch(new RegExp(`${kind.path}/${getText(body['id'])}$`));
      expect(Date.parse(getText(body['created_at']))).not.toBeNaN();
    });

    it('shows what was asked for, at creation and when it is read', async () => {
      const asked = { ...create(0, target.ids), description: 'contract', metadata: '{"by":"contract"}' };
      const created = await call('POST', kind.path, { body: asked });
      const read = await call('GET', pathOf(created));
      expect(read.status).toBe(200);
      expectSpec(kind, created.body, asked);
      expectSpec(kind, read.body, asked);
    });

    it('is in the list, newest first', async () => {
      const ids = [await post(0), await post(1), await post(2)].map(({ body }) => body['id']);
      const { status, body } = await call('GET', kind.path);
      expect(status).toBe(200);
      expect(getText(body['uri'])).toContain(kind.path);
      const listed = getList(body[String(kind.listKey)]).map(({ id }) => id);
      expect(listed.filter((id) => ids.includes(id ?? null))).toEqual(ids.toReversed());
    });

    it('is listed in pages that lead from one to the next, each resource once', async () => {
      const ids = [await post(0), await post(1), await post(2)].map(({ body }) => body['id']);
      const seen: unknown[] = [];
      let next: string | null = `${kind.path}?limit=1`;
      while (next !== null && !ids.every((id) => seen.includes(id))) {
        const { body } = await call('GET', next);
        const page = getList(body[String(kind.listKey)]);
        expect(page.length).toBeLessThanOrEqual(1);
        seen.push(...page.map(({ id }) => id));
        next = body['next_page_uri'] === null ? null : getText(body['next_page_uri']);
      }
      expect(seen.filter((id) => ids.some((other) => other === id))).toEqual(ids.toReversed());
    });

    it('goes on in the list before the resource that `before_id` names', async () => {
      const [older, newer] = [await post(0), await post(1)];
      const { body } = await call('GET', `${kind.path}?limit=100&before_id=${newer.body['id']}`);
      const listed = getList(body[String(kind.listKey)]).map(({ id }) => id);
      expect(listed[0]).toBe(older.body['id']);
    });

    it('keeps on PATCH what is left out or null', async () => {
      const asked = { ...create(0, target.ids), description: 'before', metadata: 'kept' };
      const created = await call('POST', kind.path, { body: asked });
      const changed = await call('PATCH', pathOf(created), { body: { description: 'after', metadata: null } });
      expect(changed.status).toBe(200);
      expect(changed.body).toMatchObject({ id: created.body['id'], description: 'after', metadata: 'kept' });
      const read = await call('GET', pathOf(created));
      expectSpec(kind, read.body, { ...asked, description: 'after' });
    });

    it('clears description and metadata with an empty text', async () => {
      const created = await post(0, { description: 'before', metadata: 'before' });
      await call('PATCH', pathOf(created), { body: { description: '', metadata: '' } });
      const { body } = await call('GET', pathOf(created));
      expect([body['description'] ?? '', body['metadata'] ?? '']).toEqual(['', '']);
    });

    it('is deleted with 204, and is gone then', async () => {
      const created = await post(0);
      expect((await call('DELETE', pathOf(created))).status).toBe(204);
      expect((await call('GET', pathOf(created))).status).toBe(404);
      expect((await call('DELETE', pathOf(created))).status).toBe(404);
      expect((await call('PATCH', pathOf(created), { body: { description: 'x' } })).status).toBe(404);
      const { body } = await call('GET', kind.path);
      expect(getList(body[String(kind.listKey)]).map(({ id }) => id)).not.toContain(created.body['id']);
    });

    it.each([
      ['description', `${MAX_DESCRIPTION}x`, `${MAX_DESCRIPTION}é`],
      ['metadata', MAX_METADATA, `${MAX_METADATA}x`],
    ])('counts the bytes of %s', async (field, longest, tooLong) => {
      const created = await post(0, { [field]: longest });
      expect(created.status).toBe(201);
      expect((await post(1, { [field]: tooLong })).status).toBe(400);
      expect((await call('PATCH', pathOf(created), { body: { [field]: tooLong } })).status).toBe(400);
      expect((await call('GET', pathOf(created))).body[field]).toBe(longest);
    });

    if (update !== undefined) {
      it('changes on PATCH what is given', async () => {
        const asked = create(0, target.ids);
        const created = await call('POST', kind.path, { body: asked });
        const given = update(target.ids);
        expect((await call('PATCH', pathOf(created), { body: given })).status).toBe(200);
        const read = await call('GET', pathOf(created));
        expectSpec(kind, read.body, { ...asked, ...given });
      });
    }

    if (immutable !== undefined) {
      it(`refuses to change ${Object.keys(immutable).join(', ')}`, async () => {
        const asked = create(0, target.ids);
        const created = await call('POST', kind.path, { body: asked });
        expect((await call('PATCH', pathOf(created), { body: immutable })).status).toBe(400);
        expectSpec(kind, (await call('GET', pathOf(created))).body, asked);
      });
    }
  });
}

/** Expects that a response shows a spec and only defaults beside it, with values of equal meaning. */
export function expectSpec(kind: Kind, body: JsonObject, asked: Spec): void {
  const { spec, mark } = readResource(kind, body);
  expect(mark).toBeUndefined();
  expect(spec).toMatchObject(canonical(kind, asked, AS_WRITTEN));
}

/** Expects that a response shows some fields, with any others. */
export function expectFields(kind: Kind, body: JsonObject, asked: Spec): void {
  const wanted = Object.entries(canonical(kind, asked, AS_WRITTEN)).filter(([name]) => name in asked);
  expect(readResource(kind, body).spec).toMatchObject(Object.fromEntries(wanted));
}
