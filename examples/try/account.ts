import {
  type ApplyEvent,
  type AttemptNotice,
  type Diagnostic,
  type FailureReport,
  findKind,
  InvalidManifests,
  lintManifests,
  listBlockingViolations,
  loadReportRenderer,
  openStack,
  type Plan,
  type Report,
  type Stack,
  type TokenSinks,
} from 'edgewise';
import {
  createServer,
  parseServerFaults,
  parseServerSeed,
  type Server,
  type ServerSnapshot,
  withFaults,
} from 'edgewise/server';

/**
 * A program on the library, run in a worker. It plans manifests and applies them to the bundled server. A task contains
 * the whole situation and its outcome the whole account, so that the page can end a slow worker and start another one.
 */

/** The state of the page, which a link contains. */
export interface Situation {
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** The live resources on the page's server. Absent before the first plan. */
  readonly account?: ServerSnapshot | undefined;
  /** Hours by which the account's clock is ahead. */
  readonly hours: number;
  /** A key of FAULTS. */
  readonly fault: string;
}

/** A task for the worker. `setup` applies what an example has applied before, and reports nothing. */
export type Task = {
  readonly id: number;
  readonly situation: Situation;
  readonly allowDeletes: boolean;
} & (
  | { readonly type: 'plan' | 'drift' | 'setup' }
  /** `rules`: the server's faults during the apply, as `edgewise serve --faults` takes them. */
  | { readonly type: 'apply'; readonly rules: string }
  | {
      readonly type: 'edit';
      readonly kind: string;
      readonly resource: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    }
);

/** What the worker reports about a task: each request and the progress of an apply, then the outcome, and at last what is shown on request. */
export type TaskEvent =
  | { readonly type: 'request'; readonly line: string }
  | { readonly type: 'progress'; readonly done: number; readonly total: number }
  | { readonly type: 'end'; readonly outcome: Outcome }
  | { readonly type: 'texts'; readonly texts: Texts };

/** A report in the other formats. */
export interface Texts {
  readonly text: string;
  readonly markdown: string;
  readonly json: string;
}

/** The result of a task. */
export interface Outcome {
  readonly about: Report['about'];
  readonly html: string;
  /** What happened, in a sentence. Empty for a plan and for drift: `html` has it. */
  readonly sentence: string;
  readonly isFailure: boolean;
  /** Why the plan cannot be applied, as a sentence. Empty: it can be. */
  readonly refusal: string;
  /** The plan deletes more than its rules allow without consent. */
  readonly needsConsent: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly account: ServerSnapshot;
  /** The stack of the manifests. Empty: there is no plan. */
  readonly stack: string;
  /** What an apply of the plan would change. */
  readonly changes: readonly ShownChange[];
  /** The number of dangers of the plan. */
  readonly dangers: number;
  /** The number of writes of the plan. */
  readonly writes: number;
}

/** A change of a plan, for the account. */
export interface ShownChange {
  readonly action: Plan['changes'][number]['action'];
  readonly address: string;
  /** Absent: the resource is not live yet. */
  readonly id?: string | undefined;
  /** The fields that differ. */
  readonly fields: readonly string[];
}

const BASE_URL = 'https://api.example.com';
const HOUR_MS = 3_600_000;
const LOOK = { color: false, width: 0, verbose: false };

type Emit = (event: TaskEvent) => void;

/** Runs one task. Never rejects: a failure is a report, too. Review pages come first, and the other formats when they are on the screen. */
export async function runTask(task: Task, emit: Emit): Promise<void> {
  const { report, outcome } = await act(task, emit);
  emit({ type: 'end', outcome });
  if (task.type === 'setup') return;
  const [text, markdown, json] = await Promise.all([
    render(report, 'text'),
    render(report, 'markdown'),
    render(report, 'json'),
  ]);
  emit({ type: 'texts', texts: { text, markdown, json } });
}

async function act(task: Task, emit: Emit): Promise<{ readonly report: Report; readonly outcome: Outcome }> {
  const { situation } = task;
  const now = () => new Date(Date.now() + situation.hours * HOUR_MS);
  let server = createServer({ now, idSeed: 'try' });
  let plan: Plan | undefined;
  try {
    // The account may come from a link, so it is checked like the file of a server.
    const seed = situation.account && parseServerSeed(JSON.stringify(situation.account));
    server = createServer({ now, idSeed: 'try', ...(seed !== undefined && { seed }) });
    if (task.type === 'edit') await edit(server, task);
    const faulty = task.type === 'apply' ? withFaults(server, parseServerFaults(`{ rules: ${task.rules} }`)) : server;
    await using stack = await openStack({
      manifests: situation.files,
      transport: faulty.handle,
      baseUrl: BASE_URL,
      apiKey: 'dev',
      env: {},
      cwd: '/',
      root: '/',
      now,
      rateLimit: 'none',
      sinks: createSinks(task.type === 'apply' ? emit : () => undefined),
      onRequest: (notice) => {
        if (task.type === 'apply' && notice.event !== 'sent') emit({ type: 'request', line: describe(notice) });
      },
    });
    plan = await stack.plan();
    if (task.type === 'setup') await stack.apply(plan);
    // The editor also shows the findings of `edgewise lint`.
    const found = [...plan.diagnostics, ...lintManifests(stack.desired, { now: now() })];
    const diagnostics = [
      ...new Map(found.map((one) => [JSON.stringify([one.code, one.address, one.message]), one])).values(),
    ];
    const report: Report = await createReport(stack, plan, task, emit);
    const shown = task.type === 'setup' ? { html: '', sentence: '' } : await show(report);
    const isAllowable = ({ rule }: Plan['violations'][number]) =>
      rule === 'delete-share' || rule === 'nothing-described';
    const needsConsent = report.about === 'plan' && plan.violations.some(isAllowable);
    const refusal = explainRefusal(report);
    const isFailure = report.about === 'apply' && !isComplete(report);
    const account = server.snapshot();
    const said = { isFailure, refusal, needsConsent, diagnostics, account };
    return { report, outcome: { about: report.about, ...shown, ...said, ...describePlan(plan) } };
  } catch (error) {
    const diagnostics = error instanceof InvalidManifests ? error.diagnostics : [];
    const report = createFailure(error, diagnostics, plan);
    const refusal = explainRefusal(report);
    const account = server.snapshot();
    const said = { isFailure: true, refusal, needsConsent: false, diagnostics, account };
    return { report, outcome: { about: report.about, ...(await show(report)), ...said, ...describePlan(undefined) } };
  }
}

function describePlan(plan: Plan | undefined): Pick<Outcome, 'stack' | 'changes' | 'dangers' | 'writes'> {
  const changed = (plan?.changes ?? []).filter(({ action }) => action !== 'no-op');
  return {
    stack: plan?.stack ?? '',
    changes: changed.map(({ action, address, live, differences }) => ({
      action,
      address,
      id: live?.id,
      fields: [...new Set(differences.map(({ path }) => path.split(/[.[]/)[0] ?? ''))],
    })),
    dangers: changed.reduce((sum, { dangers = [] }) => sum + dangers.length, 0),
    writes: plan?.writes.length ?? 0,
  };
}

/** Whether an apply did all that its plan says. */
function isComplete({ result }: Extract<Report, { about: 'apply' }>): boolean {
  return !result.interrupted && result.outcomes.every(({ outcome }) => outcome === 'applied');
}

async function createReport(stack: Stack, plan: Plan, task: Task, emit: Emit): Promise<Report> {
  if (task.type === 'drift') return { about: 'drift', drift: await stack.drift() };
  if (task.type !== 'apply') {
    // Both stacks are of the page: who tries the example means the hand-over.
    const allowed = { allowDeletes: task.allowDeletes, allowTakeOver: plan.takeOver };
    return { about: 'plan', plan, blocking: listBlockingViolations(plan.violations, allowed) };
  }
  const onEvent = (event: ApplyEvent) => {
    if (event.event === 'write-ended') emit({ type: 'progress', done: event.done, total: event.total });
  };
  const result = await stack.apply(plan, { onEvent, allowDeletes: task.allowDeletes, allowTakeOver: plan.takeOver });
  return { about: 'apply', plan, result };
}

/** Returns why nothing can be applied. Empty: the plan can be. */
function explainRefusal(report: Report): string {
  if (report.about === 'failure')
    return report.failure.diagnostics?.[0]?.message ?? report.failure.error?.message ?? 'There is no plan.';
  if (report.about === 'drift') return 'Drift only says what differs. Open Plan to apply something.';
  if (report.about === 'apply' && isComplete(report)) return 'It is done. Edit a manifest, and there is a new plan.';
  if (report.about !== 'plan') return 'Open Plan for what is left.';
  const { plan, blocking } = report;
  const error = plan.diagnostics.find(({ severity }) => severity === 'error') ?? blocking[0];
  if (error !== undefined) return error.message;
  return plan.writes.length === 0 ? 'There is nothing to apply.' : '';
}

function createFailure(error: unknown, diagnostics: readonly Diagnostic[], plan: Plan | undefined): FailureReport {
  const thrown = error instanceof Error ? error : new Error(String(error));
  const failure = { command: 'plan', diagnostics, ...(plan !== undefined && { plan }) };
  return { about: 'failure', failure: diagnostics.length > 0 ? failure : { ...failure, error: thrown } };
}

async function render(report: Report, name: 'html' | keyof Texts): Promise<string> {
  return (await loadReportRenderer(name))(report, LOOK);
}

async function show(report: Report): Promise<Pick<Outcome, 'html' | 'sentence'>> {
  return { html: await render(report, 'html'), sentence: await summarize(report) };
}

/** What happened. The review page of a plan and of drift has its own headline. */
async function summarize(report: Report): Promise<string> {
  if (report.about === 'failure') return 'Nothing can be planned.';
  if (report.about !== 'apply') return '';
  const [sentence = ''] = /^\d+ writes? applied[^:]*/m.exec(await render(report, 'text')) ?? [];
  return sentence.replace(', 0 failed, 0 skipped', '');
}

/** Changes fields of a live resource, or deletes it if no fields are given. Attached modules have their own paths. */
async function edit(server: Server, { kind, resource, fields }: Extract<Task, { type: 'edit' }>): Promise<void> {
  const found = findKind(kind);
  const live = server.snapshot().resources[kind]?.find(({ id }) => id === resource);
  if (found === undefined || live === undefined) throw new Error(`There is no ${kind} ${resource}.`);
  const path = found.path.replace(/\{(\w+)\}/g, (_, name) => String(live[name]));
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json', 'service-version': '2' };
  const send = async (method: string, place: string, value: unknown): Promise<void> => {
    const body = value === null ? {} : { body: JSON.stringify(value) };
    const response = await server.handle(new Request(`${BASE_URL}${place}`, { method, headers, ...body }));
    if (!response.ok) throw new Error(`The server refuses that: ${(await response.json()).msg}`);
  };
  if (found.role !== 'attached')
    return send(fields === undefined ? 'DELETE' : 'PATCH', `${path}/${resource}`, fields ?? null);
  const modules = Object.keys(fields ?? live).filter((name) => found.fields[name]?.hasPath === true);
  for (const name of modules) {
    const value = fields?.[name] ?? null;
    await send(value === null ? 'DELETE' : 'PUT', `${path}/${name}`, value);
  }
}

/** The tokens of the page's server are made up and grant no access, so they are delivered nowhere. */
function createSinks(emit: Emit): TokenSinks {
  const sink = {
    test: async () => [],
    deliver: async ({ name }: { readonly name: string }) => {
      emit({ type: 'request', line: `The simulated token of ${name} would be delivered now` });
      return 'nowhere: it is made up';
    },
  };
  return { find: () => sink, rescue: sink };
}

function describe(notice: Exclude<AttemptNotice, { readonly event: 'sent' }>): string {
  const what = `${notice.method} ${notice.path}${notice.attempt > 1 ? ` (attempt ${notice.attempt})` : ''}`;
  return notice.event === 'answered' ? `← ${notice.status} ${what}` : `× ${what}: ${notice.cause}`;
}
