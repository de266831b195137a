import type { Outcome, Situation, TaskEvent } from './account.ts';
import { createEditor } from './editor.ts';
import { EXAMPLES, FAULTS } from './examples.ts';
import { pack, unpack } from './link.ts';
import { runInWorker, type TaskInput } from './run.ts';

/** The page. Each input of the user changes the situation, and the worker plans the new one. */

const get = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

let situation: Situation = { files: [{ file: 'manifests.yaml', text: '' }], hours: 0, fault: 'none' };
let shown = 0;
let outcome: Outcome | undefined;
let format: 'review' | 'text' | 'markdown' | 'json' | 'command' = 'review';

/** Tasks run one after another. Of several waiting plans, only the latest runs. */
let queue = Promise.resolve();
let latest = 0;
/** Counts the chosen examples and opened links. Tasks of an earlier one are dropped. */
let session = 0;

function run(input: TaskInput): Promise<void> {
  latest += 1;
  const [number, started] = [latest, session];
  queue = queue.then(async () => {
    if (started !== session || (input.type === 'plan' && number !== latest)) return;
    document.body.dataset['busy'] = input.type;
    const apply = get<HTMLButtonElement>('apply');
    if (input.type === 'apply') apply.disabled = true;
    const result = await runInWorker({ ...input, situation }, showEvent).catch((error: Error) => error);
    document.body.dataset['busy'] = '';
    if (started !== session) return;
    if (result instanceof Error) {
      apply.disabled = true;
      say(result.message, true);
      return;
    }
    outcome = result;
    situation = { ...situation, account: result.account };
    show();
  });
  return queue;
}

function showEvent(event: TaskEvent): void {
  if (event.type === 'request') get('journal').append(make('li', event.line));
  if (event.type === 'request') get('journal').scrollTop = get('journal').scrollHeight;
  if (event.type === 'progress') say(`Applying: ${event.done} of ${event.total} writes`);
}

const frame = get<HTMLIFrameElement>('review');
const editor = createEditor(get('editor'), (text) => {
  situation = { ...situation, files: situation.files.map((one, at) => (at === shown ? { ...one, text } : one)) };
  void run({ type: 'plan' });
});

const HEADINGS: Partial<Record<Outcome['about'], string>> = { apply: 'Result of the apply', drift: 'Drift' };
const AFTER_APPLY =
  'The account below is the result of the apply. Change a manifest, or edit a live resource, to get the next plan.';

function show(): void {
  if (outcome === undefined) return;
  get('would').textContent = HEADINGS[outcome.about] ?? 'Plan';
  if (outcome.about === 'apply') get('hint').textContent = AFTER_APPLY;
  showReport(outcome);
  editor.mark(outcome.diagnostics);
  showFiles();
  showAccount();
  say(outcome.sentence, outcome.isFailure);
  get<HTMLButtonElement>('apply').disabled = outcome.writes === 0;
}

function showReport({ html, text, markdown, json }: Outcome): void {
  const isReview = format === 'review';
  frame.hidden = !isReview;
  get('plain').hidden = isReview;
  for (const tab of document.querySelectorAll<HTMLElement>('[role=tab][data-format]')) {
    tab.ariaSelected = String(tab.dataset['format'] === format);
    tab.tabIndex = tab.dataset['format'] === format ? 0 : -1;
  }
  get('plain').textContent = { review: '', text, markdown, json, command: renderCommand() }[format];
  if (!isReview) return;
  // The frame is a sandbox without scripts. Only its body is replaced, so that its scroll position stays.
  const inside = frame.contentDocument;
  const page = new DOMParser().parseFromString(html, 'text/html');
  page.querySelector('script')?.remove();
  if (inside?.querySelector('main') == null) frame.srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
  else inside.body.replaceWith(inside.importNode(page.body, true));
}

function renderCommand(): string {
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
    all.map((one) => renderRow(kind, one)),
  );
  get('live').replaceChildren(...rows.slice(0, 200));
  get('count').textContent =
    rows.length === 0
      ? 'Nothing of the manifests is live yet.'
      : `${rows.length} live${rows.length > 200 ? ', the first 200 are shown' : ''}.`;
}

function renderRow(kind: string, one: Readonly<Record<string, unknown>>): HTMLElement {
  const { id, created_at: _, state: __, metadata: ___, ...fields } = one;
  const row = make('tr', '');
  const text = JSON.stringify(fields);
  const change = make('button', 'Edit');
  change.ariaLabel = `Edit ${kind} ${id}`;
  change.addEventListener('click', () => edit(kind, String(id), fields));
  const first = make('td', '');
  first.append(change);
  row.append(first, make('td', kind), make('td', String(id)), make('td', text.slice(0, 140)));
  if (text.length > 140) row.lastElementChild?.append('…');
  return row;
}

function edit(kind: string, id: string, fields: Readonly<Record<string, unknown>>): void {
  const [dialog, area] = [get<HTMLDialogElement>('edit'), get<HTMLTextAreaElement>('fields')];
  get('edited').textContent = `${kind} ${id}`;
  area.value = JSON.stringify(fields, null, 2);
  dialog.returnValue = '';
  dialog.onclose = () => {
    if (dialog.returnValue === 'delete') void run({ type: 'edit', kind, resource: id });
    if (dialog.returnValue !== 'save') return;
    try {
      const isSame = ([name, value]: [string, unknown]) => JSON.stringify(value) === JSON.stringify(fields[name]);
      const changed = Object.fromEntries(Object.entries(JSON.parse(area.value)).filter((entry) => !isSame(entry)));
      void run({ type: 'edit', kind, resource: id, fields: changed });
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
  Object.assign(get('status'), { textContent: text, className: isBad ? 'bad' : '' });
}

function reset(next: Situation): void {
  session += 1;
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
  reset({ files: before ?? files, hours: 0, fault: 'none' });
  const started = session;
  if (before !== undefined) await run({ type: 'apply', allowDeletes: false, rules: '[]' });
  if (started !== session) return;
  get('hint').textContent = hint;
  situation = { ...situation, files };
  get('journal').replaceChildren();
  open(files.findIndex(({ file }) => file === opens));
  const [target] = edited === undefined ? [] : (situation.account?.resources[edited.kind] ?? []);
  if (edited === undefined || target === undefined) await run({ type: 'plan' });
  else await run({ type: 'edit', kind: edited.kind, resource: String(target['id']), fields: edited.fields });
}

const onClick = (id: string, act: () => void) => get(id).addEventListener('click', act);

function onSelect(
  id: string,
  options: Readonly<Record<string, { readonly title: string }>>,
  act: (name: string) => void,
) {
  for (const [value, { title }] of Object.entries(options))
    get(id).append(Object.assign(make('option', title), { value }));
  get(id).addEventListener('change', () => act(get<HTMLSelectElement>(id).value));
}

onSelect('example', EXAMPLES, (name) => void choose(name));
onSelect('fault', FAULTS, (fault) => {
  situation = { ...situation, fault };
});
onClick('apply', () => {
  get('journal').replaceChildren();
  void run({
    type: 'apply',
    allowDeletes: get<HTMLInputElement>('deletes').checked,
    rules: FAULTS[situation.fault]?.rules ?? '[]',
  });
});
onClick('replan', () => void run({ type: 'plan' }));
onClick('drift', () => void run({ type: 'drift' }));
for (const [id, hours] of Object.entries({ day: 24, year: 8760 }))
  onClick(id, () => {
    situation = { ...situation, hours: situation.hours + hours };
    void run({ type: 'plan' });
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
  void run({ type: 'plan' });
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
for (const tab of document.querySelectorAll<HTMLElement>('[data-format]'))
  tab.addEventListener('click', () => {
    format = (tab.dataset['format'] ?? 'review') as typeof format;
    if (outcome !== undefined) showReport(outcome);
  });

// Makes these areas scrollable with the keyboard.
for (const area of [get('plain'), get('journal'), get('live').closest('section')]) area?.setAttribute('tabindex', '0');

async function start(): Promise<void> {
  const packed = location.hash.slice(1);
  if (packed === '') return void choose('quickstart');
  try {
    reset(await unpack(packed));
    void run({ type: 'plan' });
  } catch (error) {
    void choose('quickstart');
    get('hint').textContent = error instanceof Error ? error.message : String(error);
    get('hint').classList.add('bad');
  }
}

window.addEventListener('hashchange', () => void start());
void start();
