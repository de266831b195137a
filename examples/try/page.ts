import type { Outcome, Situation, Told } from './account.ts';
import { type Asked, askWorker } from './ask.ts';
import { createEditor } from './editor.ts';
import { EXAMPLES, FAULTS } from './examples.ts';
import { pack, unpack } from './link.ts';

/** The page: what a person does changes the situation, and each situation is planned by the worker. */

const get = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

let situation: Situation = { files: [{ file: 'manifests.yaml', text: '' }], hours: 0, fault: 'none' };
let shown = 0;
let outcome: Outcome | undefined;
let form: 'review' | 'text' | 'markdown' | 'json' | 'command' = 'review';

// The worker gets one question at a time. Of plans that wait, only the last is made.

let line = Promise.resolve();
let latest = 0;
/** What was asked before somebody began anew is of no interest. */
let beginning = 0;

function ask(asked: Asked): Promise<void> {
  latest += 1;
  const [mine, began] = [latest, beginning];
  line = line.then(async () => {
    if (began !== beginning || (asked.ask === 'plan' && mine !== latest)) return;
    document.body.dataset['busy'] = asked.ask;
    const apply = get<HTMLButtonElement>('apply');
    if (asked.ask === 'apply') apply.disabled = true;
    const told = await askWorker({ ...asked, situation }, hear).catch((error: Error) => error);
    document.body.dataset['busy'] = '';
    if (began !== beginning) return;
    if (told instanceof Error) {
      apply.disabled = true;
      say(told.message, true);
      return;
    }
    outcome = told;
    situation = { ...situation, account: told.account };
    show();
  });
  return line;
}

function hear(told: Told): void {
  if (told.tell === 'request') log(told.line);
  if (told.tell === 'progress') say(`Applying: ${told.done} of ${told.total} writes`);
}

const frame = get<HTMLIFrameElement>('review');
const editor = createEditor(get('editor'), (text) => {
  situation = { ...situation, files: situation.files.map((one, at) => (at === shown ? { ...one, text } : one)) };
  void ask({ ask: 'plan' });
});

function show(): void {
  if (outcome === undefined) return;
  showReport(outcome);
  editor.mark(outcome.diagnostics);
  showFiles();
  showAccount();
  say(outcome.sentence, outcome.isFailure);
  get<HTMLButtonElement>('apply').disabled = outcome.writes === 0;
}

function showReport({ html, text, markdown, json }: Outcome): void {
  const isReview = form === 'review';
  frame.hidden = !isReview;
  get('plain').hidden = isReview;
  for (const tab of document.querySelectorAll<HTMLElement>('[role=tab][data-form]')) {
    tab.ariaSelected = String(tab.dataset['form'] === form);
    tab.tabIndex = tab.dataset['form'] === form ? 0 : -1;
  }
  get('plain').textContent = { review: '', text, markdown, json, command: toCommand() }[form];
  if (!isReview) return;
  // Nothing in the frame can run: it is a sandbox without scripts. Its text is exchanged in place, so that it does not scroll.
  const inside = frame.contentDocument;
  const page = new DOMParser().parseFromString(html, 'text/html');
  page.querySelector('script')?.remove();
  if (inside?.querySelector('main') == null) frame.srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
  else inside.body.replaceWith(inside.importNode(page.body, true));
}

function toCommand(): string {
  const allow = outcome?.needsConsent ? ' --allow-deletes' : '';
  return `# With these files in the folder manifests:\nexport EDGEWISE_BASE_URL=https://api.example.com EDGEWISE_API_KEY=…\nedgewise plan manifests -o plan.json\nedgewise apply plan.json --manifests manifests${allow}\n\n# Without a service, on the bundled server of the command line:\nedgewise plan manifests --base-url embedded:account.json\n`;
}

function showFiles(): void {
  const broken = new Set(
    outcome?.diagnostics.filter(({ severity }) => severity === 'error').map(({ place }) => place?.file),
  );
  const tabs = situation.files.map(({ file }, at) => {
    const tab = make('button', file + (broken.has(file) ? ' ⚠' : ''));
    tab.role = 'tab';
    tab.id = `file-${at}`;
    tab.ariaSelected = String(at === shown);
    tab.tabIndex = at === shown ? 0 : -1;
    tab.addEventListener('click', () => open(at));
    return tab;
  });
  const focused = document.activeElement?.id;
  get('files').replaceChildren(...tabs);
  tabs[shown]?.scrollIntoView({ block: 'nearest' });
  if (focused?.startsWith('file-')) get(focused)?.focus();
}

function open(at: number): void {
  shown = Math.max(0, Math.min(at, situation.files.length - 1));
  const { file, text } = situation.files[shown] ?? { file: '', text: '' };
  editor.show(file, text);
  if (outcome !== undefined) editor.mark(outcome.diagnostics);
  showFiles();
}

function showAccount(): void {
  const now = new Date(Date.now() + situation.hours * 3_600_000);
  get('now').textContent = now.toISOString().slice(0, 16).replace('T', ' ');
  const rows = Object.entries(situation.account?.resources ?? {}).flatMap(([kind, all]) =>
    all.map((one) => toRow(kind, one)),
  );
  get('live').replaceChildren(...rows.slice(0, 200));
  get('count').textContent =
    rows.length === 0
      ? 'Nothing is live yet.'
      : `${rows.length} live${rows.length > 200 ? ', the first 200 are shown' : ''}.`;
}

function toRow(kind: string, one: Readonly<Record<string, unknown>>): HTMLElement {
  const { id, created_at: _, state: __, metadata: ___, ...fields } = one;
  const row = document.createElement('tr');
  const text = JSON.stringify(fields);
  row.append(
    make('td', kind),
    make('td', String(id)),
    make('td', text.length > 140 ? `${text.slice(0, 140)}…` : text),
    document.createElement('td'),
  );
  const change = make('button', 'Edit');
  change.ariaLabel = `Edit ${kind} ${id}`;
  change.addEventListener('click', () => edit(kind, String(id), fields));
  row.lastElementChild?.append(change);
  return row;
}

function edit(kind: string, id: string, fields: Readonly<Record<string, unknown>>): void {
  const [dialog, area] = [get<HTMLDialogElement>('edit'), get<HTMLTextAreaElement>('fields')];
  get('edited').textContent = `${kind} ${id}`;
  area.value = JSON.stringify(fields, null, 2);
  dialog.returnValue = '';
  dialog.onclose = () => {
    if (dialog.returnValue === 'delete') void ask({ ask: 'edit', kind, resource: id });
    if (dialog.returnValue !== 'save') return;
    try {
      const isSame = ([name, value]: [string, unknown]) => JSON.stringify(value) === JSON.stringify(fields[name]);
      const changed = Object.fromEntries(Object.entries(JSON.parse(area.value)).filter((entry) => !isSame(entry)));
      void ask({ ask: 'edit', kind, resource: id, fields: changed });
    } catch {
      say('These fields are not JSON: nothing was changed.', true);
    }
  };
  dialog.showModal();
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, text: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function say(text: string, isBad = false): void {
  get('status').textContent = text;
  get('status').classList.toggle('bad', isBad);
}

function log(line: string): void {
  const journal = get('journal');
  journal.append(make('li', line));
  journal.scrollTop = journal.scrollHeight;
}

function begin(next: Situation): void {
  beginning += 1;
  situation = next;
  outcome = undefined;
  get('hint').className = '';
  get('journal').replaceChildren();
  get<HTMLSelectElement>('fault').value = FAULTS[next.fault] === undefined ? 'none' : next.fault;
  open(0);
}

async function choose(name: string): Promise<void> {
  const example = EXAMPLES[name];
  if (example === undefined) return;
  const { files, hint, opens, before, edit: edited } = example;
  begin({ files: before ?? files, hours: 0, fault: 'none' });
  get('hint').textContent = hint;
  const began = beginning;
  if (before !== undefined) await ask({ ask: 'apply', allowDeletes: false, rules: '[]' });
  if (began !== beginning) return;
  situation = { ...situation, files };
  get('journal').replaceChildren();
  open(files.findIndex(({ file }) => file === opens));
  const [target] = edited === undefined ? [] : (situation.account?.resources[edited.kind] ?? []);
  if (edited === undefined || target === undefined) await ask({ ask: 'plan' });
  else await ask({ ask: 'edit', kind: edited.kind, resource: String(target['id']), fields: edited.fields });
}

function onClick(id: string, act: () => void): void {
  get(id).addEventListener('click', act);
}

for (const [name, { title }] of Object.entries(EXAMPLES))
  get('example').append(Object.assign(make('option', title), { value: name }));
for (const [name, { title }] of Object.entries(FAULTS))
  get('fault').append(Object.assign(make('option', title), { value: name }));
get<HTMLSelectElement>('example').addEventListener(
  'change',
  ({ currentTarget }) => void choose((currentTarget as HTMLSelectElement).value),
);
get<HTMLSelectElement>('fault').addEventListener('change', ({ currentTarget }) => {
  situation = { ...situation, fault: (currentTarget as HTMLSelectElement).value };
});
onClick('apply', () => {
  get('journal').replaceChildren();
  void ask({
    ask: 'apply',
    allowDeletes: get<HTMLInputElement>('deletes').checked,
    rules: FAULTS[situation.fault]?.rules ?? '[]',
  });
});
onClick('replan', () => void ask({ ask: 'plan' }));
onClick('drift', () => void ask({ ask: 'drift' }));
for (const [id, hours] of [
  ['day', 24],
  ['year', 8760],
] as const)
  onClick(id, () => {
    situation = { ...situation, hours: situation.hours + hours };
    void ask({ ask: 'plan' });
  });
onClick('again', () => {
  history.replaceState(null, '', location.pathname);
  void choose(get<HTMLSelectElement>('example').value);
});
onClick('add', () => {
  situation = {
    ...situation,
    files: [...situation.files, { file: `more-${situation.files.length}.yaml`, text: '# A new file of manifests\n' }],
  };
  open(situation.files.length - 1);
});
onClick('remove', () => {
  if (situation.files.length === 1) return;
  situation = { ...situation, files: situation.files.filter((_, at) => at !== shown) };
  open(shown);
  void ask({ ask: 'plan' });
});
onClick('share', async () => {
  try {
    history.replaceState(null, '', `#${await pack(situation)}`);
    await navigator.clipboard?.writeText(location.href).catch(() => undefined);
    say('The address of this page is the link now. It holds the manifests and the account, and nothing was sent.');
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
  }
});
for (const list of document.querySelectorAll<HTMLElement>('[role=tablist]')) {
  list.addEventListener('keydown', (event) => {
    const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next =
      step === undefined
        ? undefined
        : tabs.at((tabs.indexOf(document.activeElement as HTMLElement) + step) % tabs.length);
    const id = next?.id;
    next?.click();
    (id ? get(id) : next)?.focus();
  });
}
for (const tab of document.querySelectorAll<HTMLElement>('[data-form]'))
  tab.addEventListener('click', () => {
    form = (tab.dataset['form'] ?? 'review') as typeof form;
    if (outcome !== undefined) showReport(outcome);
  });

// Who uses the keyboard alone can scroll there.
for (const area of [get('plain'), get('journal'), get('live').closest('section')]) area?.setAttribute('tabindex', '0');

async function start(): Promise<void> {
  const packed = location.hash.slice(1);
  if (packed === '') return void choose('quickstart');
  try {
    begin(await unpack(packed));
    void ask({ ask: 'plan' });
  } catch (error) {
    void choose('quickstart');
    get('hint').textContent = error instanceof Error ? error.message : String(error);
    get('hint').classList.add('bad');
  }
}

window.addEventListener('hashchange', () => void start());
void start();
