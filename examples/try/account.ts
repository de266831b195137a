import {
  type ApplyEvent,
  type Diagnostic,
  type FailureReport,
  findKind,
  InvalidManifests,
  lintManifests,
  listBlockingViolations,
  loadReportFormat,
  openStack,
  type Plan,
  type Report,
  type RequestNotice,
  readCel,
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
 * A program on the library, in a worker: it plans manifests, and applies them to the bundled server. Every question brings all that the answer depends on,
 * and the answer all that has become of it, so that a worker that takes too long is ended and another one asked.
 */

/** Everything that a page shows, and a link holds. */
export interface Situation {
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** What is live on the page's server; absent: nothing yet. */
  readonly account?: ServerSnapshot | undefined;
  /** How far the clock was turned, in hours. */
  readonly hours: number;
  /** The name of a fault. */
  readonly fault: string;
}

/** What the page asks for. */
export type Question = { readonly id: number; readonly situation: Situation } & (
  | { readonly ask: 'plan' }
  | { readonly ask: 'drift' }
  /** `rules`: faults of the server during it, as `edgewise serve --faults` takes them. */
  | { readonly ask: 'apply'; readonly allowDeletes: boolean; readonly rules: string }
  | {
      readonly ask: 'edit';
      readonly kind: string;
      readonly resource: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    }
);

/** What it is told, and of which question. */
export type Answer = Told & { readonly id: number };

/** The requests of an apply, how far it is, and the end of any question. */
export type Told =
  | { readonly tell: 'request'; readonly line: string }
  | { readonly tell: 'progress'; readonly done: number; readonly total: number }
  | { readonly tell: 'end'; readonly outcome: Outcome };

/** How it ended. */
export interface Outcome {
  readonly html: string;
  readonly text: string;
  readonly markdown: string;
  readonly json: string;
  /** In one sentence. */
  readonly sentence: string;
  readonly isFailure: boolean;
  /** Writes of the plan; 0: nothing to apply. */
  readonly writes: number;
  /** The plan deletes more than its rules allow without consent. */
  readonly needsConsent: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly account: ServerSnapshot;
}

const BASE_URL = 'https://api.example.com';
const HOUR_MS = 3_600_000;
const LOOK = { color: false, width: 0, verbose: false };

type Tell = (told: Told) => void;

/** Answers one question. Never rejects: what went wrong is a report, too. */
export async function answer(question: Question, tell: Tell): Promise<Outcome> {
  const { situation } = question;
  const now = () => new Date(Date.now() + situation.hours * HOUR_MS);
  let server = createServer({ now, idSeed: 'try' });
  let plan: Plan | undefined;
  try {
    // An account may come with a link: it is checked as the file of a server is.
    const seed = situation.account && parseServerSeed(JSON.stringify(situation.account));
    server = createServer({ now, idSeed: 'try', ...(seed !== undefined && { seed }) });
    if (question.ask === 'edit') await edit(server, question);
    const faulty =
      question.ask === 'apply' ? withFaults(server, parseServerFaults(`{ rules: ${question.rules} }`)) : server;
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
      sinks: createSinks(tell),
      onRequest: (notice) => question.ask === 'apply' && tell({ tell: 'request', line: describe(notice) }),
    });
    plan = await stack.plan();
    // An editor says more than a plan: everything that `edgewise lint` finds.
    const found = [...plan.diagnostics, ...lintManifests(stack.desired, { now: now(), readCel })];
    const diagnostics = [
      ...new Map(found.map((one) => [JSON.stringify([one.code, one.address, one.message]), one])).values(),
    ];
    const report: Report = await toReport(stack, plan, question, tell);
    const needsConsent = plan.violations.some(({ rule }) => rule === 'delete-share' || rule === 'nothing-described');
    const writes = report.about === 'plan' ? plan.writes.length : 0;
    const account = server.snapshot();
    return { ...(await render(report)), isFailure: false, writes, needsConsent, diagnostics, account };
  } catch (error) {
    const diagnostics = error instanceof InvalidManifests ? error.diagnostics : [];
    const report = toFailure(error, diagnostics, plan);
    const account = server.snapshot();
    return { ...(await render(report)), isFailure: true, writes: 0, needsConsent: false, diagnostics, account };
  }
}

async function toReport(stack: Stack, plan: Plan, question: Question, tell: Tell): Promise<Report> {
  if (question.ask === 'drift') return { about: 'drift', drift: await stack.drift() };
  if (question.ask !== 'apply') {
    const allowed = { deletes: false, protected: [], rejected: [] };
    return { about: 'plan', plan, blocking: listBlockingViolations(plan.violations, allowed) };
  }
  const onEvent = (event: ApplyEvent) => {
    if (event.event === 'write-ended') tell({ tell: 'progress', done: event.done, total: event.total });
  };
  const result = await stack.apply(plan, { onEvent, allowDeletes: question.allowDeletes });
  return { about: 'apply', plan, result };
}

function toFailure(error: unknown, diagnostics: readonly Diagnostic[], plan: Plan | undefined): FailureReport {
  const thrown = error instanceof Error ? error : new Error(String(error));
  const failure = { command: 'plan', diagnostics, ...(plan !== undefined && { plan }) };
  return { about: 'failure', failure: diagnostics.length > 0 ? failure : { ...failure, error: thrown } };
}

async function render(report: Report): Promise<Pick<Outcome, 'html' | 'text' | 'markdown' | 'json' | 'sentence'>> {
  const render = async (name: 'html' | 'text' | 'markdown' | 'json') => (await loadReportFormat(name))(report, LOOK);
  const [html, text, markdown, json] = await Promise.all([
    render('html'),
    render('text'),
    render('markdown'),
    render('json'),
  ]);
  return { html, text, markdown, json, sentence: toSentence(report, text) };
}

function toSentence(report: Report, text: string): string {
  if (report.about === 'failure')
    return `Nothing can be planned: ${report.failure.diagnostics?.[0]?.message ?? report.failure.error?.message}`;
  const said = report.about === 'apply' ? /^\d+ writes? applied/ : /^(\d+ (to delete|safety rule)|No |Nothing)/;
  const lines = text.trim().split('\n');
  return lines.filter((line) => said.test(line)).join(' ') || (lines.at(-1) ?? '');
}

/** Changes a live resource past the manifests: some of its fields, or without any the whole of it. Modules of what is attached have paths of their own. */
async function edit(server: Server, { kind, resource, fields }: Extract<Question, { ask: 'edit' }>): Promise<void> {
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

/** Tokens of the page's server are made up: they open nothing, and go nowhere. */
function createSinks(tell: Tell): TokenSinks {
  const sink = {
    test: async () => [],
    deliver: async ({ name }: { readonly name: string }) => {
      tell({ tell: 'request', line: `The made-up token of ${name} would be delivered now` });
      return 'nowhere: it is made up';
    },
  };
  return { find: () => sink, rescue: sink };
}

function describe(notice: RequestNotice): string {
  const what = `${notice.method} ${notice.path}${notice.attempt > 1 ? ` (attempt ${notice.attempt})` : ''}`;
  if (notice.event === 'sent') return `→ ${what}`;
  return notice.event === 'answered' ? `← ${notice.status} ${what}` : `× ${what}: ${notice.cause}`;
}
