import type { ShownChange, Situation } from './account.ts';
import { get, make } from './elements.ts';

/** The account: what is live, what an apply of the plan would change, and what the last apply has changed. */

type Resource = Readonly<Record<string, unknown>>;
type Account = NonNullable<Situation['account']>;

/** What is marked, and what a user can do with a resource. */
export interface AccountView {
  readonly account: Account | undefined;
  /** The account before an apply. Absent: nothing was just applied. */
  readonly before?: Account | undefined;
  readonly changes: readonly ShownChange[];
  /** The stack of the manifests. */
  readonly stack: string;
  readonly onEdit: (resource: LiveResource) => void;
}

const MAX_ROWS = 200;

const PLANNED: Readonly<Record<string, string>> = {
  create: 'will be created',
  update: 'will change',
  delete: 'will be deleted',
  replace: 'will be replaced',
  'take-over': 'will change its stack',
  adopt: 'will be adopted',
  release: 'will be released',
};

export function showAccount(view: AccountView): void {
  const { account, before, changes } = view;
  const resources = list(account);
  const ids = new Set(resources.map(({ id }) => id));
  const gone = list(before).filter(({ id }) => !ids.has(id));
  const rows = [
    ...resources.map((one) => renderResource(one, view)),
    ...changes.filter(({ id, action }) => id === undefined && action === 'create').map(renderPlanned),
    ...gone.map(({ kind, name, id }) =>
      renderRow({ title: toTitle(kind, name || id), look: 'delete', tag: 'deleted just now' }),
    ),
  ];
  const empty = make('li', 'Nothing is live yet. What you apply appears here.', 'nothing');
  get('live').replaceChildren(...(rows.length === 0 ? [empty] : rows.slice(0, MAX_ROWS)));
  const more = rows.length > MAX_ROWS ? `, ${MAX_ROWS} shown` : '';
  get('count').textContent = resources.length === 0 ? 'nothing yet' : `${count(resources.length)}${more}`;
}

const count = (number: number): string => `${number} resource${number === 1 ? '' : 's'}`;

/** A resource of the account. */
export interface LiveResource {
  readonly kind: string;
  readonly id: string;
  /** Empty: it has no mark. */
  readonly name: string;
  readonly stack: string;
  readonly fields: Resource;
}

function list(account: Account | undefined): readonly LiveResource[] {
  return Object.entries(account?.resources ?? {}).flatMap(([kind, all]) =>
    all.map(({ id, created_at: _, state: __, metadata, ...fields }) => ({
      kind,
      id: String(id),
      fields,
      ...readMark(metadata),
    })),
  );
}

/** The name and the stack in the mark of a resource. Empty: it has none. */
function readMark(metadata: unknown): Pick<LiveResource, 'name' | 'stack'> {
  try {
    const { name, stack } = JSON.parse(String(metadata)).edgewise;
    return { name: String(name), stack: String(stack) };
  } catch {
    return { name: '', stack: '' };
  }
}

interface Row {
  readonly title: Node;
  /** The action that decides the colour. Empty: nothing happens. */
  readonly look: string;
  readonly tag: string;
  readonly content?: readonly Node[];
}

function renderRow({ title, look, tag, content = [] }: Row): HTMLElement {
  return make('li', [title, ...(tag === '' ? [] : [make('span', tag, 'tag')]), ...content], look);
}

function toTitle(kind: string, name: string): HTMLElement {
  return make('b', [make('span', `${kind}/`, 'kind'), make('wbr', ''), name]);
}

function renderPlanned({ address }: ShownChange): HTMLElement {
  const [kind = '', ...name] = address.split('/');
  return renderRow({ title: toTitle(kind, name.join('/')), look: 'create planned', tag: PLANNED['create'] ?? '' });
}

function renderResource(resource: LiveResource, view: AccountView): HTMLElement {
  const { kind, id, name, stack, fields } = resource;
  const planned = view.changes.find((change) => change.id === id && change.address.startsWith(`${kind}/`));
  const happened = findHappened(resource, view.before);
  const { look, tag } = happened ?? { look: planned?.action ?? '', tag: PLANNED[planned?.action ?? ''] ?? '' };
  const change = make('button', 'Change');
  change.type = 'button';
  change.ariaLabel = `Change ${kind} ${name || id} by hand`;
  change.addEventListener('click', () => view.onEdit(resource));
  const owner = stack === view.stack || view.stack === '' ? '' : stack === '' ? 'unmanaged' : `of stack ${stack}`;
  const facts = make('div', [...(owner === '' ? [] : [make('span', owner, 'owner')]), make('code', id)], 'facts');
  const marked = new Set(happened?.fields ?? planned?.fields);
  const content = [change, facts, ...renderFields(fields, marked)];
  return renderRow({ title: toTitle(kind, name || id), look, tag, content });
}

function findHappened(
  resource: LiveResource,
  before: Account | undefined,
): (Omit<Row, 'title'> & { fields: readonly string[] }) | undefined {
  if (before === undefined) return undefined;
  const old = list(before).find(({ id, kind }) => id === resource.id && kind === resource.kind);
  if (old === undefined) return { look: 'create moved', tag: 'created just now', fields: [] };
  const fields = Object.keys(resource.fields).filter(
    (name) => JSON.stringify(resource.fields[name]) !== JSON.stringify(old.fields[name]),
  );
  if (fields.length > 0) return { look: 'update moved', tag: 'changed just now', fields };
  return old.stack === resource.stack
    ? undefined
    : { look: 'take-over moved', tag: 'changed its stack just now', fields };
}

const isNothing = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** What is marked is shown, and the rest on request. */
function renderFields(fields: Resource, marked: ReadonlySet<string>): readonly HTMLElement[] {
  const render = (entries: readonly (readonly [string, unknown])[], look: string) =>
    make(
      'dl',
      entries.map(([name, value]) => make('div', [make('dt', name), make('dd', toShort(value))], look)),
    );
  const shown = Object.entries(fields).filter(([name]) => marked.has(name));
  const rest = Object.entries(fields).filter(([name, value]) => !marked.has(name) && !isNothing(value));
  const summary = make(
    'summary',
    `${rest.length} ${shown.length === 0 ? '' : 'more '}field${rest.length === 1 ? '' : 's'}`,
  );
  return [
    ...(shown.length === 0 ? [] : [render(shown, 'marked')]),
    ...(rest.length === 0 ? [] : [make('details', [summary, render(rest, '')])]),
  ];
}

/** A value without the quotes of JSON. */
function toShort(value: unknown): string {
  if (Array.isArray(value)) return value.map(toShort).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).filter(([, member]) => !isNothing(member));
  return members.map(([name, member]) => `${name}: ${toShort(member)}`).join(', ');
}
