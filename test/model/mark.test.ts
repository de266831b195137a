import { describe, expect, it } from 'vitest';
import { omitUndefined } from '../../src/model/json.ts';
import { isEqualMark, type Mark, normalizeUserMetadata, renderMetadata, splitMetadata } from '../../src/model/mark.ts';

const MARK: Mark = { stack: 'shop', name: 'a', protect: false, delivered: false, fields: { hostports: 'k3f9aQ' } };

describe('the mark in the metadata', () => {
  it.each([
    ['nothing', '', ''],
    ['text', 'é 🙂 {', 'é 🙂 {'],
    ['a mapping', { team: 'data' }, { team: 'data' }],
    ['JSON text', '{ "team": "data" }', { team: 'data' }],
    ['JSON text that would not be the same when it is written again', '{"n":1.0}', '{"n":1.0}'],
    ['a list', '[1]', '[1]'],
    ['an empty mapping', {}, ''],
  ])('stands beside %s', (_, user, kept) => {
    const text = renderMetadata(user, MARK);
    expect(splitMetadata(text)).toEqual({ user: kept, mark: MARK, error: undefined });
    // Text that differs from the rendered text is not in the cache of parsed texts.
    expect(splitMetadata(`\n${text}`)).toEqual(splitMetadata(text));
    expect(normalizeUserMetadata(user)).toEqual(kept);
  });

  it('is read from its text if rendered values differ', () => {
    const other = { ...MARK, stack: 'other' };
    expect(splitMetadata(renderMetadata({ edgewise: omitUndefined(other) }, MARK))).toEqual({
      user: '',
      mark: MARK,
      error: undefined,
    });
    const unnamed = renderMetadata({ team: 'data' }, { ...MARK, name: 'No name' });
    expect(splitMetadata(unnamed)).toMatchObject({ mark: undefined, error: 'its name is not a valid name' });
  });

  it('has the team in the member `owner`, as it was written and is read by other versions', () => {
    const text = '{"edgewise":{"stack":"production","name":"a","owner":"data"}}';
    const { mark, user } = splitMetadata(text);
    if (mark === undefined) throw new Error('There is no mark');
    expect(mark).toMatchObject({ team: 'data' });
    expect(renderMetadata(user, mark)).toBe(text);
  });

  it('is read from JSON in another format', () => {
    const text = renderMetadata({ city: 'Zürich', size: 1 }, MARK).replace('ü', '\\u00fc').replace(':1', ' : 1.0\n');
    expect(splitMetadata(text)).toMatchObject({ user: { city: 'Zürich', size: 1 }, mark: MARK });
  });

  it.each([
    ['{"edgewise":5}', 'it is not an object'],
    ['{"edgewise":{"stack":"A b","name":"a"}}', 'its stack is not a valid name'],
    ['{"edgewise":{"stack":"a","name":""}}', 'its name is not a valid name'],
    ['{"edgewise":{"stack":"a","name":"a","fields":[]}}', 'its fields are not an object'],
  ])('is absent if it is %s', (text, error) => {
    expect(splitMetadata(text)).toEqual({ user: JSON.parse(text), mark: undefined, error });
  });

  it('is not searched in text that only looks like it', () => {
    const text = '{"edgewise":{"stack":"a","name":"a"}';
    expect(splitMetadata(text)).toEqual({ user: text, mark: undefined, error: undefined });
  });
});

describe('two marks that differ in one member', () => {
  it.each<readonly [Partial<Mark>, { readonly planned: boolean; readonly sent: boolean; readonly kept: boolean }]>([
    [{ name: 'other' }, { planned: false, sent: false, kept: false }],
    [{ protect: true }, { planned: false, sent: false, kept: false }],
    [{ fields: {} }, { planned: false, sent: false, kept: false }],
    [{ adopted: true }, { planned: false, sent: false, kept: false }],
    [{ delivered: true }, { planned: false, sent: false, kept: true }],
    [{ switches: ['policy'] }, { planned: false, sent: false, kept: true }],
    [{ former: { name: 'old' } }, { planned: false, sent: false, kept: true }],
    [{ retiring: true }, { planned: false, sent: false, kept: true }],
    [{ team: 'shop' }, { planned: false, sent: true, kept: true }],
    [{ id: 'edgtcp_1' }, { planned: true, sent: false, kept: true }],
    [{ replaces: 'edgtcp_1' }, { planned: true, sent: false, kept: true }],
    [{ refused: { asked: 'aaaaaa', fields: [] } }, { planned: true, sent: false, kept: true }],
    [{ by: 'a job' }, { planned: true, sent: true, kept: true }],
  ])('count as equal where %j does not matter', (change, { planned, sent, kept }) => {
    const other = { ...MARK, ...change };
    expect(isEqualMark(MARK, other)).toBe(planned);
    expect(isEqualMark(MARK, other, 'as sent')).toBe(sent);
    expect(isEqualMark(MARK, other, 'needs no write')).toBe(kept);
    expect(isEqualMark(other, undefined)).toBe(false);
  });
});
