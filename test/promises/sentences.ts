import type { BROKEN_PROMISES } from './breaks.ts';

type BreakName = keyof typeof BROKEN_PROMISES;

/**
 * What holds a sentence of a page: the broken promises that fail a test (see `breaks.ts`), or a test alone if no change of
 * a source breaks it, or the reason why it promises nothing.
 */
export type HeldBy = readonly BreakName[] | { readonly test: string; readonly title: string } | { readonly no: string };

const ADVICE = { no: 'It is advice.' } as const;
const ABOUT_OTHERS = { no: 'It is about other programs.' } as const;
const LIMIT = { no: 'It says what is not promised.' } as const;
const HEADING = { no: 'The sentences after it say what it means.' } as const;

/** The sentences that promise something, by page, as `list-sentences.ts` lists them. */
export const SENTENCES: Readonly<Record<string, Readonly<Record<string, HeldBy>>>> = {
  'docs/explanation/reliability.md': {
    'One more apply repairs everything.': ['a credential whose token was not delivered is kept'],
    'After broken connections, kills, a full disk, two runs at once or clicks, one undisturbed apply makes the service match the manifests, and the next plan is empty.':
      ['a credential whose token was not delivered is kept', 'a field that drifted is left as it is'],
    'Nothing is created twice.': ['a POST that may have worked is sent again', 'both duplicates of an apply stay'],
    'If a creation may have worked, the run looks for the mark before it tries again.': [
      'a creation without a response is not looked up',
      'the second look-up is left out',
    ],
    'Only your resources are touched.': ['every marked resource counts as owned'],
    'Others only if you adopt them, take them over, or set modules of an HTTPS edge; the plan shows it.': [
      'an adoption is shown as an update',
    ],
    "The answer to a creation counts only if its id is new to the run, its `created_at` at most a minute before the request by the service's `Date`, and if it, or a GET within half a minute, shows the mark that was sent or, without one, every other field.":
      ['an id in an answer is always ours'],
    'Otherwise nothing follows from it, and its token goes to a rescue file.': ['an id in an answer is always ours'],
    'No delete that the plan did not show, except of what the run created (a duplicate, without its mark, or not as requested).':
      ['a changed mark does not stop a delete', 'both duplicates of an apply stay'],
    'What is deleted was seen as planned within the last five seconds; otherwise the delete fails.': [
      'a state is recent for a minute',
    ],
    'It also fails if the service confirms it and still shows the resource or module when the run ends (uninterrupted).':
      ['deletes are not confirmed'],
    'No token is lost.': ['a token whose delivery failed is not rescued'],
    'After that apply, the file of each credential has the token that works.': [
      'a failed delivery is recorded as done',
      'a credential whose token was not delivered is kept',
    ],
    'No secret is shown in any output, file (except token sinks) or environment of a program: no API key, no token of a credential, none with which `post` writes (secrets).':
      ['tokens are not redacted', 'the API key is not redacted', 'the token of the forge is shown'],
    'The limit of `--rate-limit` is kept, retries included.': ['the window forgets requests that have ended'],
    'It is a setting of edgewise: the service may allow less.': ['a 429 delays one request only'],
    'A broken response is never used.': ['a page that is not JSON is empty'],
    'A truncated page, invalid JSON or HTML is requested again, or ends the run; nothing looks deleted.': [
      'a page that is not JSON is empty',
      'a failed read is not repeated',
    ],
    'You can apply an interrupted plan again.': ['nothing that is live counts as done'],
    'It does what is left, and lists what is done.': ['nothing that is live counts as done'],
    'An approved plan is applied as it was shown, or not at all (approvals).': ['an approval is not compared'],
    'Safety rules hold in every format.': ['a violation does not stop an apply'],
    'You can allow what breaks one, but not what breaks a policy, nor an exchange of values between stacks.': [
      'a consent allows what breaks a policy',
      'an exchange of values is not refused',
    ],
    'If a plan says that the service will reject a write, it will.': ['a doubtful rejection is certain'],
    'Wrong input is refused within seconds, with a fitting exit code and no write.': [
      'errors of manifests do not stop a plan',
    ],
    'A run reads at most 256 MiB.': ['what a run reads is not counted'],
    'It writes only files that you or the manifests name, none that git tracks (except manifests with `accept` and `export --force`, and the file of `embedded:FILE`), no token that git does not ignore, and none through a link of the checkout.':
      ['a tracked file is overwritten', 'tokens may get into git', 'a link of the checkout is followed'],
    'A killed run leaves no secret behind, except perhaps a hidden file `.NAME.token.UUID` in a token folder, or in `TMPDIR` if a delivery had failed.':
      ['what a killed run left is not removed'],
    'Each apply of the stack starts by removing those in its token folders that are older than a minute, by the clock of the file system, and says so.':
      ['what a killed run left is not removed', 'a file of a running apply counts as left'],
    'Evidence decides what a missing field means: empty, if any response of the run shows the field elsewhere.': [
      'a left-out field is unknown although other responses show it',
    ],
    'A missing `enabled` has the value that no response shows, if others show the opposite.': [
      'a missing switch is always unknown',
    ],
    'Otherwise it is unknown, and counts as last applied (`shown-otherwise`), but as drift if an earlier read showed that switch.':
      ['a missing switch is off without evidence'],
    'Nothing piles up.': [
      'a new resource without its mark stays',
      'a refused creation is kept beside the replaced one',
    ],
    'A new resource that is shown without its whole mark is deleted, and the run ends: such a service cannot be managed.':
      ['a new resource without its mark stays'],
    'Its first mark is as long as it will get, so that a cut shows before a token is delivered.': {
      test: 'cli/unkept-marks',
      title: 'is at least as long as each later mark, and the next write leaves the filling out: %s',
    },
    'A delivered credential stays.': {
      test: 'cli/unkept-marks',
      title: 'keeps the delivered credential, and the next plan creates no other',
    },
    'If an update removes a mark, its kind gets no further write.': {
      test: 'cli/lost-marks',
      title: 'stops the writes to the kind if the mark is gone, and no others',
    },
    'No resource is created beside one without metadata with its fields, unique value or (if no other has it) description.':
      ['another is created beside a lost one'],
    'The token of one that the service stores differently than requested is never delivered.': [
      'what differs from the request is delivered',
    ],
    "If it was to replace another, it is deleted, as the other one's mark records.": [
      'a refused creation is kept beside the replaced one',
    ],
    'A first one stays as its own record; a first certificate that permits more is deleted, and each apply issues another.':
      ['a refused creation is not recorded', 'a certificate that permits more stays'],
    'What is recorded is tried again only if the manifest changes, or with `--rotate ADDRESS`.': [
      'what was refused is tried again',
    ],
    'The rest is applied, with exit code 1.': ['a failed write is no failure'],
    'Equal values converge.': ['an equal value in another form is a difference'],
    'After one apply the plan is empty, in whatever equal form or spelling the service stores a value.': [
      'an equal value in another form is a difference',
      'every spelling is a difference',
    ],
    'What you leave to others is never set back.': ['an ignored field is sent'],
    'If a write must carry values under `lifecycle.ignore`, they are read again right before.': [
      'ignored values are sent as they were planned',
    ],

    'A request is retried after a network error, 429 or 5xx; a POST only if it certainly had no effect.': [
      'a failed read is not repeated',
      'a POST that may have worked is sent again',
    ],
    'If a write fails, or the service did not accept a field, what depends on it is skipped, and the rest continues.': [
      'a write follows a failed one',
      'a field that the service did not store is accepted',
    ],
    'The exit code is 1, and the result lists what was applied, failed and skipped.': ['a failed write is no failure'],
    'After Ctrl-C or SIGTERM, running writes finish, a delivered token is noted in its mark, and no new write starts.':
      ['an interrupt does not stop writes', 'a delivery is not recorded after an interrupt'],
    'A second signal, at least half a second later, stops at once.': ['a second signal is ignored'],

    'a wrong response that looks right: a page lacks resources: it cannot be detected.': LIMIT,
    'a wrong response that looks right: a page lacks resources: Promises 4 to 7 hold; 1 and 2 again after correct responses':
      ['every marked resource counts as owned', 'a credential is never in doubt'],
    'the service lists a new resource more than half a minute late: two resources may have one mark.': [
      'a list is read a few times for a new resource',
    ],
    'the service lists a new resource more than half a minute late: The next apply keeps one; of two credentials whose tokens were both delivered, it replaces both':
      ['the duplicate of a mark is kept', 'a credential is never in doubt'],
    'someone edits between reading and writing: the API has no conditional writes: what they did to a field that the update sends is lost.':
      ['another change is not noticed in a response'],
    'someone edits between reading and writing: Let people change git': ADVICE,
    'less than one request in five seconds is allowed: deletes are refused.': ['a slow limit allows deletes'],
    'less than one request in five seconds is allowed: Raise the limit': ADVICE,
    'two applies of a stack at once: one resource of each stays.': [
      'both duplicates of an apply stay',
      'the younger of two duplicates stays',
    ],
    'two applies of a stack at once: But a token that one delivers while the other plans may not work until the next apply; one of the two fails then, and says so.':
      ['a credential is never in doubt'],
    "two applies of a stack at once: If that one is killed while it delivers, or cannot write the mark of the other's credential, no later apply knows: `--rotate` the credential.":
      LIMIT,
    'two applies of a stack at once: Let one run at a time': ADVICE,
    'a stack of a run is unknown: the others prune nothing': ['a run prunes beside an unknown stack'],
    'someone copies or forges a mark: one of the two stays.': ['a copied mark can win'],
    'someone copies or forges a mark: A forged mark can make a plan replace a credential or, with `retires`, delete it later; the plan shows it.':
      ['a retirement is not shown'],
    "someone copies or forges a mark: It reaches no resource without this stack's mark.": [
      'every marked resource counts as owned',
    ],
    'someone copies or forges a mark: Protect credentials in an account that others write to': ADVICE,
    'a protected credential whose token was not delivered: is replaced only with `--allow-protected`: it may be in use':
      ['protection does not stop a replace'],
    'a concurrent apply has just delivered the token of a credential to replace: it is deleted all the same, and the new token delivered after that':
      ['a delivery since the plan stops the delete'],
    'the account has no room for another resource (402; 403 or 429 with the code of a limit): exit code 1.': [
      'a full account is no failure of its own',
    ],
    'the account has no room for another resource (402; 403 or 429 with the code of a limit): A replace needs room for both; else take the manifest away, apply, bring it back, apply':
      ['a full account is no failure of its own'],
    "the clock is wrong: the service's time decides; if both differ by more than a day, only what is due by both is replaced (`clock-skew`).":
      ['the clock of this machine decides', 'a doubtful clock is trusted'],
    'the clock is wrong: A wrong `Date` of a proxy can make a rotation up to a day early': LIMIT,
    'the service frees a value late (409): a write that depends on a delete of the run is tried for a minute, or `spec.api.timeouts.conflict`':
      ['a conflict is final', 'a conflict of the Stack is waited for as long as by default'],
    'requests of a killed run: may still take effect after its end.': LIMIT,
    'requests of a killed run: The log at level debug names them': ['a request is logged after its response'],
    'HTTPS modules: have no mark: a part that no response shows is written by each apply, unless its value is empty or the default':
      ['a hidden part of a module is not written'],
    'the service stores another description or metadata: each apply sends it once, and ends with 1. `lifecycle.ignore` leaves the field to the service':
      ['another text is no failure', 'an ignored field is sent'],
    'a lost mark, if all of the manifest changes, or it has no field and a delete is refused: another is created beside the one that the run named':
      { test: 'cli/unkept-marks', title: 'is created again beside the one that the run named if %s' },
    'a token command that succeeds without storing: counts as delivered': ['a token command that succeeds has failed'],

    'We cannot show a run against a service that was not written here.': { no: 'It is about these tests.' },
    'In its place:': HEADING,
    "The bundled server, written from the API's description.": ['the server answers otherwise than described'],
    'Its tests check each response against the OpenAPI document, and can run against a real account.': [
      'the server answers otherwise than described',
    ],
    'Published clients: it accepts what they send, and answers as they read.': [
      'the server answers otherwise than described',
    ],
    "Terraform's public provider read 1,000 credentials; a state that it captured is adopted in a test.": [
      'the ids of a Terraform state are not found',
    ],
    'Generated models and clients of four generators, in three languages, call every operation.': {
      test: 'openapi/generated-clients',
      title: 'compiles and calls every operation',
    },
  },
  'README.md': {
    'It separates drift from your changes, field by field: each resource has a mark that records the last apply (HTTPS modules have none).':
      ['drift and changes are one'],
    'It rehearses each plan in memory: a write that the service would reject shows up before the merge, if what was read tells.':
      ['a plan has no rehearsal', 'no rejected write is predicted'],
    'An approval binds.': HEADING,
    'After the merge, the plan is made again.': ['an approval is not compared'],
    'If it differs from the approved one, nothing in that stack is written.': ['an approval is not compared'],
    'It shows the danger beside the change: who can connect now, which traffic stops, whose token no longer works.': [
      'the dangers of a plan are left out',
    ],
    'One more apply repairs a failure, creates nothing twice, and each token file has the token that works, with exceptions such as two applies at once.':
      [
        'a credential whose token was not delivered is kept',
        'a POST that may have worked is sent again',
        'a failed delivery is recorded as done',
      ],
    'The tests use a server that was written here; what stands in for a real one.': { no: 'It is about these tests.' },
    'Unchanged plan of 1,000 credentials: 15 requests: 10 pages of them, 5 of other kinds': ['a page has one resource'],
    'State file: none: marks': ['a creation has no mark'],
    'Drift apart from changes: per marked field': ['drift and changes are one'],
    'Rehearsal: the plan, in memory': ['a plan has no rehearsal'],
    'Approval: compared with manifests and live': ['an approval is not compared'],
    'New tokens: your vault or a private file': [
      'everyone can read a token file',
      'a token command that succeeds has failed',
    ],
    'decK and kongctl manage another API.': ABOUT_OTHERS,
  },
};
