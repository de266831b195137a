import type { Outcome, Situation, TaskEvent, Texts } from './account.ts';
import { keepFollowable } from './advice.ts';
import { createEditor, type Remark } from './editor.ts';
import { get, make, toProse } from './elements.ts';
import { BEGINNING, EXAMPLES, type Example, FAULTS, START } from './examples.ts';
import type { FirstPlan } from './first.ts';
import { guide } from './guide.ts';
import { pack, unpack } from './link.ts';
import { type LiveResource, showAccount } from './live.ts';
import { settle, showReview } from './review.ts';
import { runInWorker, startWorker, type TaskInput } from './run.ts';

/** The page. Each input of the user changes the situation, and the worker plans the new one. */

const FIRST: FirstPlan = JSON.parse(get('first').textContent);

let situation: Situation = { files: [{ file: 'manifests.yaml', text: '' }], hours: 0, fault: 'none' };
/** The index of the open file. */
let shown = 0;
let outcome: Outcome | undefined;
/** The outcome in the other formats. They come after it. */
let texts: Texts | undefined;
/** The account before the apply whose result is shown. */
let before: Situation['account'];
let example: Example | undefined;
/** Whether the user has applied something in this example. */
let hasApplied = false;
let isGuideHidden = false;
const FORMATS = {
  review: { title: 'Review page' },
  text: { title: 'Text' },
  markdown: { title: 'Markdown' },
  json: { title: 'JSON' },
  command: { title: 'Command' },
} as const;
let format: keyof typeof FORMATS = 'review';

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
    before = input.type === 'apply' ? situation.account : undefined;
    situation = { ...situation, account: result.account };
    if (input.type === 'setup') return;
    [outcome, texts] = [result, undefined];
    show();
  });
  return queue;
}

function showEvent(event: TaskEvent): void {
  if (event.type === 'texts') {
    texts = event.texts;
    showText();
  }
  if (event.type === 'request') get('journal').append(make('li', event.line));
  if (event.type === 'request') get('journal').scrollTop = get('journal').scrollHeight;
  if (event.type === 'progress')
    answer({ sentence: `Applying: ${event.done} of ${event.total} writes`, refusal: 'An apply is running.' });
}

const editor = createEditor(get('editor'), (text) => {
  changeFiles(situation.files.map((one, at) => (at === shown ? { ...one, text } : one)));
});

/** Plans other files. Consent was for the plan before. */
function changeFiles(files: Situation['files']): void {
  situation = { ...situation, files };
  get<HTMLInputElement>('deletes').checked = false;
  void run({ type: 'plan' });
}

function show(): void {
  if (outcome === undefined) return;
  if (!outcome.needsConsent) get<HTMLInputElement>('deletes').checked = false;
  get('consent').hidden = !outcome.needsConsent;
  showReport(outcome);
  showRemarks();
  showFiles();
  showLive();
  showGuide();
}

/** What the answer is about, for its colour. */
function findLook({ about, isFailure, refusal, writes = 0, dangers = 0 }: Partial<Outcome>): string {
  if (isFailure) return 'failed';
  if (about === 'apply') return 'applied';
  if (refusal !== '' && writes > 0 && about === 'plan') return 'refused';
  if (about !== 'plan') return '';
  return dangers > 0 ? 'danger' : writes > 0 ? 'ready' : 'empty';
}

/** Says what the report says in short, and turns Apply on or, with the reason, off. New elements: no text moves. */
function answer(said: Partial<Outcome>): void {
  const { sentence = '', refusal = '', writes = 0 } = said;
  get<HTMLButtonElement>('apply').disabled = refusal !== '';
  const status = Object.assign(make('p', sentence), { id: 'status', className: findLook(said) });
  const ready = `Apply sends ${writes} ${writes === 1 ? 'write' : 'writes'} to the account. What would change is marked there.`;
  const reason = refusal === '' ? [ready] : [`Apply is off. `, ...toProse(refusal)];
  get('answer').replaceChildren(status, Object.assign(make('p', reason), { id: 'reason' }));
}

function showGuide(): void {
  const said = outcome === undefined || isGuideHidden || isBlank() ? undefined : guide(example, outcome, hasApplied);
  const next = said?.next === undefined ? undefined : EXAMPLES[said.next];
  say(said?.say ?? '');
  get('next').hidden = next === undefined;
  get('next').textContent = next === undefined ? '' : `Next: ${next.title}`;
  get('next').dataset['example'] = said?.next ?? '';
}

/** Says something in the guide. Empty: there is nothing to say. */
function say(text: string, isBad = false): void {
  if (get('hint').textContent !== text) get('hint').textContent = text;
  get('guide').className = isBad ? 'bad' : text === '' ? 'silent' : '';
  get('hide').hidden = text === '';
  get('next').hidden = true;
}

/** Marks what the editor shows: diagnostics, and the edit that waits. */
function showRemarks(): void {
  const { file, text } = situation.files[shown] ?? { file: '', text: '' };
  const remarks: Remark[] = (outcome?.diagnostics ?? []).map(({ remedy, ...one }) => {
    const advice = keepFollowable(remedy ?? '');
    return advice === '' ? one : { ...one, remedy: advice };
  });
  const { edit } = example ?? {};
  const at = edit === undefined || file !== edit.file ? -1 : text.indexOf(edit.after + edit.from);
  if (edit !== undefined && at >= 0) {
    const lines = text.slice(0, at + edit.after.length).split('\n');
    const place = { file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
    remarks.push({ severity: 'info', message: `Type ${edit.to} here: the plan follows.`, place });
  }
  editor.mark(remarks);
}

/** Scrolls to the text that the user is to type over. */
function revealEdit(): void {
  const { edit } = example ?? {};
  const { file, text } = situation.files[shown] ?? { file: '', text: '' };
  const at = edit === undefined || edit.file !== file ? -1 : text.indexOf(edit.after + edit.from);
  if (at >= 0) editor.reveal(text.slice(0, at).split('\n').length);
}

/** Whether there is no plan because there are no manifests yet. */
const isBlank = (): boolean =>
  outcome?.about === 'failure' &&
  outcome.diagnostics.length > 0 &&
  situation.files.every(({ text }) => text.trim() === '');

function showReport(said: Outcome): void {
  const { about, html, sentence } = said;
  const name = about === 'drift' ? 'drift' : about === 'apply' ? 'result' : 'plan';
  get('result').hidden = about !== 'apply';
  for (const id of ['plan', 'drift', 'result'])
    Object.assign(get(id), { ariaSelected: String(id === name), tabIndex: id === name ? 0 : -1 });
  const isEmpty = isBlank();
  get('empty').hidden = !isEmpty;
  get('review').hidden = isEmpty || format !== 'review';
  get('plain').hidden = isEmpty || format === 'review';
  showText();
  const headline = showReview(html, openPlace).replace(/\p{So}\uFE0F? ?| · \d+ unchanged$/gu, '');
  if (isEmpty) answer({ sentence: 'There are no manifests yet.', refusal: 'There is nothing to plan.' });
  else answer({ ...said, sentence: capitalize(sentence || headline) });
}

function showText(): void {
  get('plain').textContent = { review: '', text: '', markdown: '', json: '', ...texts, command: renderCommand() }[
    format
  ];
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function renderCommand(): string {
  const allow = outcome?.needsConsent ? ' --allow-deletes' : '';
  return `# With these files in the folder manifests:\nexport EDGEWISE_BASE_URL=https://api.example.com EDGEWISE_API_KEY=…\nedgewise plan manifests -o plan.json\nedgewise apply manifests --approved plan.json${allow}\n\n# Without a service, on the bundled server of the command line:\nedgewise plan manifests --base-url embedded:account.json\n`;
}

function showFiles(): void {
  const broken = new Set(
    outcome?.diagnostics.filter(({ severity }) => severity === 'error').map(({ place }) => place?.file),
  );
  const tabs = situation.files.map(({ file }, at) => {
    const tab = make('button', file, broken.has(file) ? 'broken' : '');
    tab.type = 'button';
    tab.role = 'tab';
    tab.title = file;
    tab.id = `file-${at}`;
    tab.ariaSelected = String(at === shown);
    if (broken.has(file)) tab.ariaLabel = `${file}, which has a mistake`;
    tab.tabIndex = at === shown ? 0 : -1;
    tab.addEventListener('click', () => open(at));
    return tab;
  });
  const focused = document.activeElement?.id;
  get('files').replaceChildren(...tabs);
  if (focused?.startsWith('file-')) get(focused)?.focus();
  get<HTMLButtonElement>('remove').disabled = tabs.length === 1;
}

function open(at: number): void {
  shown = Math.max(0, Math.min(at, situation.files.length - 1));
  const { file, text } = situation.files[shown] ?? { file: '', text: '' };
  editor.show(file, text);
  showRemarks();
  showFiles();
}

/** Opens the file of a position, with the cursor there. */
function openPlace({
  file,
  line,
  column,
}: {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}): void {
  const at = situation.files.findIndex((one) => one.file === file);
  if (at < 0) return;
  showPane('manifests');
  open(at);
  editor.focus(line, column);
}

function showLive(): void {
  const now = new Date(Date.now() + situation.hours * 3_600_000);
  get('now').textContent = `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const isDone = outcome?.about === 'apply' && !outcome.isFailure;
  const { changes = [], stack = '' } = outcome ?? {};
  showAccount({ account: situation.account, before, changes: isDone ? [] : changes, stack, onEdit: editLive });
}

function editLive({ kind, id, name, fields }: LiveResource): void {
  const [dialog, area] = [get<HTMLDialogElement>('edit'), get<HTMLTextAreaElement>('fields')];
  get('edited').textContent = `Change ${kind}/${name || id} by hand`;
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
  // Its beginning is in view.
  area.setSelectionRange(0, 0);
  area.scrollTop = 0;
}

/** Asks for the name of a file, and uses it if no other file has it. */
function askName(title: string, name: string, use: (name: string) => void): void {
  const [dialog, input] = [get<HTMLDialogElement>('naming'), get<HTMLInputElement>('name')];
  const findFault = (): string => {
    const wanted = input.value.trim();
    if (!/^[\w./-]+\.(?:ya?ml|json)$/.test(wanted))
      return 'A name such as edge.yaml: letters, digits, dots and hyphens.';
    return wanted !== name && situation.files.some(({ file }) => file === wanted) ? 'Another file has this name.' : '';
  };
  get('named').textContent = title;
  input.value = name;
  input.oninput = () => {
    get('taken').textContent = findFault();
    const save = dialog.querySelector<HTMLButtonElement>('[value=save]');
    if (save !== null) save.disabled = findFault() !== '';
  };
  input.oninput(new InputEvent('input'));
  dialog.returnValue = '';
  dialog.onclose = () => dialog.returnValue === 'save' && findFault() === '' && use(input.value.trim());
  dialog.showModal();
  input.setSelectionRange(0, input.value.lastIndexOf('.'));
}

function reset(next: Situation, chosen?: Example): void {
  session += 1;
  situation = next;
  example = chosen;
  outcome = undefined;
  before = undefined;
  hasApplied = false;
  isGuideHidden = false;
  get<HTMLInputElement>('deletes').checked = false;
  get('journal').replaceChildren();
  get<HTMLSelectElement>('fault').value = FAULTS[next.fault] === undefined ? 'none' : next.fault;
  for (const card of get('examples').querySelectorAll('button'))
    card.ariaCurrent = String(chosen !== undefined && EXAMPLES[card.dataset['example'] ?? ''] === chosen);
  open(0);
}

async function choose(name: string): Promise<void> {
  const chosen = EXAMPLES[name];
  if (chosen === undefined) return;
  const { files, opens, before: applied, byHand, hours = 0 } = chosen;
  if (name === START) return showFirst(chosen);
  reset({ files: applied ?? files, hours: 0, fault: 'none' }, chosen);
  const started = session;
  if (applied !== undefined) await run({ type: 'setup' });
  if (started !== session) return;
  situation = { ...situation, files, hours };
  open(files.findIndex(({ file }) => file === opens));
  revealEdit();
  const [target] = byHand === undefined ? [] : (situation.account?.resources[byHand.kind] ?? []);
  if (byHand === undefined || target === undefined) await run({ type: 'plan' });
  else await run({ type: 'edit', kind: byHand.kind, resource: String(target['id']), fields: byHand.fields });
}

function showFirst(chosen: Example): void {
  const { outcome: planned, texts: written } = FIRST;
  reset({ files: chosen.files, account: planned.account, hours: 0, fault: 'none' }, chosen);
  open(chosen.files.findIndex(({ file }) => file === chosen.opens));
  revealEdit();
  [outcome, texts] = [planned, written];
  show();
  // When this is on the screen.
  setTimeout(startWorker);
}

const onClick = (id: string, act: () => void) => get(id).addEventListener('click', act);
function onSelect(
  id: string,
  choices: Readonly<Record<string, { readonly title: string }>>,
  act: (name: string) => void,
): void {
  const options = Object.entries(choices).map(([value, { title }]) => Object.assign(make('option', title), { value }));
  get(id).append(...options);
  get(id).addEventListener('change', () => act(get<HTMLSelectElement>(id).value));
}

const cards = Object.entries(EXAMPLES).map(([name, { title, sentence }]) => {
  const card = make('button', [make('b', title), make('span', sentence)]);
  card.type = 'button';
  card.dataset['example'] = name;
  card.addEventListener('click', () => {
    if (get('examples').matches(':popover-open')) get('examples').hidePopover();
    history.replaceState(null, '', location.pathname);
    void choose(name);
  });
  return card;
});
get('examples').append(make('h2', 'Examples'), ...cards);

onSelect('fault', FAULTS, (fault) => {
  situation = { ...situation, fault };
});
onClick('apply', () => {
  // What was typed a moment ago is not planned yet, so its plan was not shown.
  if (document.body.dataset['busy'] !== '') return;
  get('journal').replaceChildren();
  hasApplied = true;
  void run({ type: 'apply', rules: FAULTS[situation.fault]?.rules ?? '[]' });
});
onClick('plan', () => void run({ type: 'plan' }));
onClick('deletes', () => void run({ type: 'plan' }));
onClick('drift', () => void run({ type: 'drift' }));
onClick('next', () => void choose(get('next').dataset['example'] ?? ''));
onClick('hide', () => {
  isGuideHidden = true;
  showGuide();
});
/** In hours. Added to a step of the clock: what ends a day after an apply has then ended for certain, although times are rounded to seconds. */
const MARGIN = 1 / 60;
for (const [id, hours] of Object.entries({ day: 24, year: 8760 }))
  onClick(id, () => {
    situation = { ...situation, hours: situation.hours + hours + MARGIN };
    void run({ type: 'plan' });
  });
onClick('again', () => {
  history.replaceState(null, '', location.pathname);
  void choose(Object.keys(EXAMPLES).find((name) => EXAMPLES[name] === example) ?? START);
});
onClick('add', () => {
  askName('Add a file', `more-${situation.files.length}.yaml`, (file) => {
    changeFiles([...situation.files, { file, text: '' }]);
    open(situation.files.length - 1);
  });
});
onClick('rename', () => {
  askName('Rename this file', situation.files[shown]?.file ?? '', (file) => {
    changeFiles(situation.files.map((one, at) => (at === shown ? { ...one, file } : one)));
    open(shown);
  });
});
onClick('remove', () => {
  if (situation.files.length === 1) return;
  changeFiles(situation.files.filter((_, at) => at !== shown));
  open(shown);
});
onClick('begin', () => {
  changeFiles(situation.files.map((one, at) => (at === shown ? { ...one, text: BEGINNING } : one)));
  open(shown);
});
onClick('share', async () => {
  try {
    history.replaceState(null, '', `#${await pack(situation)}`);
    const isCopied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    const where = isCopied ? 'The link is copied' : 'The address of this page is now the link';
    say(`${where}. It contains the manifests and the account, and nothing was sent.`);
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
    // A click may have created the tabs again.
    if (next !== undefined) get(next.id).focus();
  });
}
/** In a narrow window, one of two panes is shown. */
const PANES = ['manifests', 'plan'] as const;
function showPane(pane: (typeof PANES)[number]): void {
  document.body.dataset['pane'] = pane;
  for (const one of PANES)
    Object.assign(get(`show-${one}`), { ariaSelected: String(one === pane), tabIndex: one === pane ? 0 : -1 });
}
for (const pane of PANES) onClick(`show-${pane}`, () => showPane(pane));
onSelect('format', FORMATS, (name) => {
  format = name as keyof typeof FORMATS;
  if (outcome !== undefined) showReport(outcome);
});

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
function showTheme(): void {
  const { theme = systemIsDark.matches ? 'dark' : 'light' } = document.documentElement.dataset;
  get('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  settle();
}
onClick('theme', () => {
  document.documentElement.dataset['theme'] = get('theme').textContent === 'Light' ? 'light' : 'dark';
  showTheme();
});
systemIsDark.addEventListener('change', showTheme);
showTheme();

// There is room for what a narrower window shows on request.
if (matchMedia('(min-width: 94rem)').matches) get<HTMLDetailsElement>('more').open = true;
// Makes these areas scrollable with the keyboard.
for (const area of [get('plain'), get('journal'), get('live')]) area.tabIndex = 0;

async function start(): Promise<void> {
  const packed = location.hash.slice(1);
  if (packed === '') return choose(START);
  try {
    reset(await unpack(packed));
    void run({ type: 'plan' });
  } catch (error) {
    await choose(START);
    say(error instanceof Error ? error.message : String(error), true);
  }
}

window.addEventListener('hashchange', () => void start());
void start();
