import type { Outcome, Situation, TaskEvent } from './account.ts';
import { createEditor, type Remark } from './editor.ts';
import { EXAMPLES, type Example, FAULTS } from './examples.ts';
import { pack, unpack } from './link.ts';
import { runInWorker, type TaskInput } from './run.ts';

/** The page. Each input of the user changes the situation, and the worker plans the new one. */

const get = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

let situation: Situation = { files: [{ file: 'manifests.yaml', text: '' }], hours: 0, fault: 'none' };
let shown = 0;
let outcome: Outcome | undefined;
const FORMATS = {
  review: { title: 'Review page' },
  text: { title: 'Text' },
  markdown: { title: 'Markdown' },
  json: { title: 'JSON' },
  command: { title: 'Command' },
} as const;
let format: keyof typeof FORMATS = 'review';
let example: Example | undefined;

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
    const task = { ...input, situation, allowDeletes: get<HTMLInputElement>('deletes').checked };
    const result = await runInWorker(task, showEvent).catch((error: Error) => error);
    document.body.dataset['busy'] = '';
    if (started !== session) return;
    if (result instanceof Error) {
      answer({ sentence: result.message, refusal: 'There is no plan.', isFailure: true });
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
  if (event.type === 'progress')
    answer({ sentence: `Applying: ${event.done} of ${event.total} writes`, refusal: 'An apply is running.' });
}

const frame = get<HTMLIFrameElement>('review');
const editor = createEditor(get('editor'), (text) => {
  changeFiles(situation.files.map((one, at) => (at === shown ? { ...one, text } : one)));
});

/** Plans other files. Consent was for the plan before. */
function changeFiles(files: Situation['files']): void {
  situation = { ...situation, files };
  get<HTMLInputElement>('deletes').checked = false;
  void run({ type: 'plan' });
}

const AFTER_APPLY = 'Applied to the account below. Edit a manifest, or change a live resource by hand to see drift.';

function show(): void {
  if (outcome === undefined) return;
  showReport(outcome);
  showRemarks();
  showFiles();
  showAccount();
  get('consent').hidden = !outcome.needsConsent;
  if (!outcome.needsConsent) get<HTMLInputElement>('deletes').checked = false;
  if (outcome.about === 'apply') get('hint').textContent = AFTER_APPLY;
}

/** Says what the report says in short, and turns Apply on or, with the reason, off. New elements: no text moves. */
function answer({ sentence, refusal, isFailure = false }: Partial<Outcome>): void {
  get<HTMLButtonElement>('apply').disabled = refusal !== '';
  const status = Object.assign(make('p', sentence ?? ''), { id: 'status', className: isFailure ? 'bad' : '' });
  const reason = Object.assign(make('p', refusal === '' ? '' : `Apply is off. ${refusal}`), { id: 'reason' });
  get('answer').replaceChildren(status, reason);
}

/** Marks what the editor shows: diagnostics, and the edit that waits. */
function showRemarks(): void {
  const { file, text } = situation.files[shown] ?? { file: '', text: '' };
  const remarks: Remark[] = [...(outcome?.diagnostics ?? [])];
  const { opens, waiting } = example ?? {};
  if (waiting !== undefined && file === opens) {
    const before = text.split(waiting.text)[0]?.split('\n') ?? [];
    const place = { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    const isDone = !text.includes(waiting.text);
    if (!isDone) remarks.push({ severity: 'info', message: waiting.advice, place });
    if (outcome?.refusal === '') get('hint').textContent = isDone ? waiting.next : (example?.hint ?? '');
  }
  editor.mark(remarks);
}

function showReport({ about, html, text, markdown, json, sentence, refusal, isFailure }: Outcome): void {
  const name = { drift: 'drift', apply: 'result' }[String(about)] ?? 'plan';
  get('result').hidden = about !== 'apply';
  for (const id of ['plan', 'drift', 'result'])
    Object.assign(get(id), { ariaSelected: String(id === name), tabIndex: id === name ? 0 : -1 });
  const isReview = format === 'review';
  frame.hidden = !isReview;
  get('plain').hidden = isReview;
  get('plain').textContent = { review: '', text, markdown, json, command: renderCommand() }[format];
  const page = new DOMParser().parseFromString(html, 'text/html');
  const headline = page.querySelector('.conclusion:has(strong)');
  answer({ sentence: sentence || headline?.textContent || '', refusal, isFailure });
  if (!isReview) return;
  // This page says itself what the report is about.
  for (const element of [headline, ...page.querySelectorAll('script, .brand, h1, .counts')]) element?.remove();
  // The frame is a sandbox without scripts. Only its body is replaced, so that its scroll position stays.
  const inside = frame.contentDocument;
  if (inside?.querySelector('main') == null) frame.srcdoc = `<!doctype html>${page.documentElement.outerHTML}`;
  else inside.body.replaceWith(inside.importNode(page.body, true));
}

function renderCommand(): string {
  const allow = outcome?.needsConsent ? ' --allow-deletes' : '';
  return `# With these files in the folder manifests:\nexport EDGEWISE_BASE_URL=https://api.example.com EDGEWISE_API_KEY=…\nedgewise plan manifests -o plan.json\nedgewise apply manifests --approved plan.json${allow}\n\n# Without a service, on the bundled server of the command line:\nedgewise plan manifests --base-url embedded:account.json\n`;
}

function showFiles(): void {
  const broken = new Set(
    outcome?.diagnostics.filter(({ severity }) => severity === 'error').map(({ place }) => place?.file),
  );
  const tabs = situation.files.map(({ file }, at) => {
    const tab = make('button', (broken.has(file) ? '⚠ ' : '') + file);
    tab.role = 'tab';
    tab.title = file;
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
  showRemarks();
  showFiles();
}

function showAccount(): void {
  const now = new Date(Date.now() + situation.hours * 3_600_000);
  get('now').textContent = `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const rows = Object.entries(situation.account?.resources ?? {}).flatMap(([kind, all]) =>
    all.map((one) => renderRow(kind, one)),
  );
  get('live').replaceChildren(...rows.slice(0, 200));
  get('count').textContent =
    rows.length === 0
      ? 'nothing is live yet'
      : `${rows.length} live resources${rows.length > 200 ? ', 200 shown' : ''}`;
}

function renderRow(kind: string, one: Readonly<Record<string, unknown>>): HTMLElement {
  const { id, created_at: _, state: __, metadata, ...fields } = one;
  const name = findName(metadata);
  const resource = make('th', `${kind}/`);
  resource.scope = 'row';
  resource.append(make('b', name));
  const change = make('button', 'Change');
  change.ariaLabel = `Change ${kind} ${name || id}`;
  change.addEventListener('click', () => edit(kind, String(id), fields));
  const first = make('td', '');
  first.append(change);
  const row = make('tr', '');
  row.append(first, resource, make('td', String(id)), make('td', JSON.stringify(fields).slice(0, 400)));
  return row;
}

/** The name in the mark of a resource. Empty: it has none. */
function findName(metadata: unknown): string {
  try {
    return String(JSON.parse(String(metadata)).edgewise.name);
  } catch {
    return '';
  }
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

/** Says something that changes nothing: the plan stays, and whether it can be applied. */
function say(text: string, isBad = false): void {
  Object.assign(get('status'), { textContent: text, className: isBad ? 'bad' : '' });
}

function reset(next: Situation, chosen?: Example): void {
  session += 1;
  situation = next;
  example = chosen;
  outcome = undefined;
  Object.assign(get('hint'), { textContent: chosen?.hint ?? '', className: '' });
  get<HTMLInputElement>('deletes').checked = false;
  get('journal').replaceChildren();
  get<HTMLSelectElement>('fault').value = FAULTS[next.fault] === undefined ? 'none' : next.fault;
  open(0);
}

async function choose(name: string): Promise<void> {
  const chosen = EXAMPLES[name];
  if (chosen === undefined) return;
  const { files, hint, opens, before, edit: edited } = chosen;
  reset({ files: before ?? files, hours: 0, fault: 'none' }, chosen);
  const started = session;
  if (before !== undefined) await run({ type: 'apply', rules: '[]' });
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
  // What was typed a moment ago is not planned yet, so nobody saw its plan.
  if (document.body.dataset['busy'] !== '') return;
  get('journal').replaceChildren();
  void run({ type: 'apply', rules: FAULTS[situation.fault]?.rules ?? '[]' });
});
onClick('plan', () => void run({ type: 'plan' }));
onClick('deletes', () => void run({ type: 'plan' }));
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
  changeFiles(situation.files.filter((_, at) => at !== shown));
  open(shown);
});
onClick('share', async () => {
  try {
    history.replaceState(null, '', `#${await pack(situation)}`);
    await navigator.clipboard?.writeText(location.href).catch(() => undefined);
    say('The address of this page is now the link. It contains the manifests and the account, and nothing was sent.');
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), true);
  }
});
for (const list of document.querySelectorAll<HTMLElement>('[role=tablist]')) {
  list.addEventListener('keydown', (event) => {
    const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]:not([hidden])')];
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs.at((tabs.indexOf(document.activeElement as HTMLElement) + step) % tabs.length);
    next?.click();
    // A click may have made the tabs anew.
    if (next !== undefined) get(next.id).focus();
  });
}
onSelect('format', FORMATS, (name) => {
  format = name as keyof typeof FORMATS;
  if (outcome !== undefined) showReport(outcome);
});

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
function showTheme(): void {
  const { theme = systemIsDark.matches ? 'dark' : 'light' } = document.documentElement.dataset;
  get('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  if (frame.contentDocument !== null) frame.contentDocument.documentElement.dataset['theme'] = theme;
}
onClick('theme', () => {
  document.documentElement.dataset['theme'] = get('theme').textContent === 'Light' ? 'light' : 'dark';
  showTheme();
});
systemIsDark.addEventListener('change', showTheme);
frame.addEventListener('load', showTheme);
showTheme();

// Makes these areas scrollable with the keyboard.
for (const area of [get('plain'), get('journal'), get('live').closest('section'), get('answer').parentElement])
  area?.setAttribute('tabindex', '0');

async function start(): Promise<void> {
  const packed = location.hash.slice(1);
  if (packed === '') return choose('quickstart');
  try {
    reset(await unpack(packed));
    void run({ type: 'plan' });
  } catch (error) {
    await choose('quickstart');
    get('hint').textContent = error instanceof Error ? error.message : String(error);
    get('hint').classList.add('bad');
  }
}

window.addEventListener('hashchange', () => void start());
void start();
