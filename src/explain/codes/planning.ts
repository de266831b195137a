import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, type LiveResources, toDocument, toMarked } from '../explanation.ts';

const STACK = toDocument('Stack', 'production');
const CREDENTIAL = toDocument('Credential', 'agent', 'spec:', '  acl: ["bind:*.example.com"]');
const POOL = toPool();

function toPool(...more: readonly string[]): string {
  return toDocument('WeightedBackend', 'pool', 'spec:', '  backends:', '    bkdhr_blue: 1', ...more);
}

function toIngress(domain: string, ...more: readonly string[]): string {
  return toDocument('AgentIngress', 'agents', 'spec:', `  domain: ${domain}`, ...more);
}

function toRestriction(...lines: readonly string[]): string {
  return toDocument('IPRestriction', 'api', 'spec:', '  type: api', '  ip_policy_ids: [ipp_office]', ...lines);
}

/** A plan of one manifest beside the Stack. */
function toPlanOf(text: string, more: Partial<Explanation['bad']> = {}): Explanation['bad'] {
  return { command: 'plan', files: { 'edgewise.yaml': STACK, 'manifest.yaml': text }, ...more };
}

function mended(text: string): Explanation['good'] {
  return { files: { 'manifest.yaml': text } };
}

/** Live weighted backends by id, each with the stack and the name of its mark. */
function toPools(marks: Readonly<Record<string, readonly [stack: string, name: string]>>): LiveResources {
  const pools = Object.entries(marks).map(([id, [stack, name]]) => ({
    id,
    backends: { bkdhr_blue: 1 },
    metadata: toMarked(stack, name),
  }));
  return { WeightedBackend: pools };
}

function toLiveIngress(domain: string, ourName?: string): LiveResources {
  const metadata = ourName === undefined ? '' : toMarked('production', ourName);
  return { AgentIngress: [{ id: 'agin_live', domain, metadata }] };
}

const OURS = ['production', 'pool'] as const;

/** The codes about manifests and what is live, found before anything is written. */
export const PLANNING = {
  'unknown-target': {
    meaning:
      'A plan can be narrowed to addresses. One that nobody knows narrows it to nothing, and a pipeline that misspells it would seem to succeed for ever.',
    remedy: 'Correct the address: Kind/name, as the manifests or an earlier plan say it.',
    bad: toPlanOf(POOL, { command: 'plan --target WeightedBackend/pol' }),
    good: { command: 'plan --target WeightedBackend/pool' },
  },
  'rotate-refused': {
    meaning:
      'To rotate is to replace what wears out though its manifest did not change: a credential or an SSH user certificate. Nothing else has anything to rotate.',
    remedy: 'Name a credential or a certificate that the manifests describe.',
    bad: toPlanOf(POOL, { command: 'plan --rotate WeightedBackend/pool' }),
    good: { command: 'plan' },
  },
  'token-sink-missing': {
    meaning:
      'The token of a credential is in the answer to its creation and can never be read again. Without a place for it the credential would be worthless, so apply refuses such a plan.',
    remedy: 'Say in `spec.tokens` of the Stack where tokens go, or apply with --token-directory or --token-command.',
    bad: toPlanOf(CREDENTIAL),
    good: {
      files: {
        'edgewise.yaml': toDocument('Stack', 'production', 'spec:', '  tokens:', '    default: { directory: tokens }'),
      },
    },
  },
  'adopt-missing': {
    meaning:
      '`lifecycle.adopt` names an id that no resource of this kind has. Either the id is wrong, or the resource was adopted long ago and somebody has deleted it since. The manifest still describes what should exist, so the plan creates it.',
    remedy: 'Correct a wrong id before you apply. If the resource was deleted, remove the line.',
    bad: toPlanOf(toPool('lifecycle:', '  adopt: bkdwd_pool')),
    good: mended(POOL),
  },
  'adopt-refused': {
    meaning:
      'What is to be adopted bears a mark already: of another stack, which would lose it, or of another address of this one. Nobody loses a resource unasked.',
    remedy:
      'To take it from another stack, run with --take-over and its name. If it was renamed in this one, say `lifecycle.renamed_from` instead.',
    bad: toPlanOf(toPool('lifecycle:', '  adopt: bkdwd_pool'), {
      live: toPools({ bkdwd_pool: ['staging', 'pool'] }),
    }),
    good: { command: 'plan --take-over staging' },
  },
  'adopt-replaces': {
    meaning:
      'A field that cannot be changed has another value live than in the manifest, so that taking the resource over would mean to delete it and make a new one. That is not what adopting promises.',
    remedy:
      'Write the live value into the manifest and adopt the resource. Change the value afterwards, if it must be another.',
    bad: toPlanOf(toIngress('agents.example.com', 'lifecycle:', '  adopt: agin_live'), {
      live: toLiveIngress('connect.example.com'),
    }),
    good: mended(toIngress('connect.example.com', 'lifecycle:', '  adopt: agin_live')),
  },
  'take-over-idle': {
    meaning:
      '--take-over names a stack whose resources may be moved into this one, and none of them is what a manifest describes. With a name that is misspelt, new resources would be made beside those that were meant.',
    remedy:
      'Correct the name of the stack. What has another name there is named by its id, with `lifecycle.adopt`. Once all is moved, leave the flag out.',
    bad: {
      ...toPlanOf(POOL, { live: toPools({ bkdwd_pool: ['staging', 'pool'] }) }),
      command: 'plan --take-over stagign',
    },
    good: { command: 'plan --take-over staging' },
  },
  'renamed-maybe': {
    meaning:
      'Another `metadata.name` is another resource: the old one is deleted and a new one is made, with another id. Here the new one claims all the unique values (host and port, type, domain) of one whose name is in no manifest any more, which is most likely the same with a new name.',
    remedy:
      'If so, say which name it had: `lifecycle.renamed_from`. Then its mark gets the new name, and nothing else happens.',
    bad: {
      command: 'plan',
      files: { 'edgewise.yaml': `${STACK}---\n${POOL}`, 'manifest.yaml': toIngress('agents.example.com') },
      live: { ...toPools({ bkdwd_pool: OURS }), ...toLiveIngress('agents.example.com', 'connect') },
    },
    good: mended(toIngress('agents.example.com', 'lifecycle:', '  renamed_from: connect')),
  },
  'claimed-elsewhere': {
    meaning:
      'The service gives the value to one resource only, and one that is not ours has it, or one of ours that this plan does not touch. The write would fail in the middle of an apply.',
    remedy: 'Adopt the resource that has it, take it away there, or choose another value.',
    bad: toPlanOf(toIngress('agents.example.com'), {
      live: toLiveIngress('agents.example.com'),
    }),
    good: mended(toIngress('agents.example.com', 'lifecycle:', '  adopt: agin_live')),
  },
  'mark-invalid': {
    meaning:
      'A live resource has the key of the mark in its metadata, and what stands there is no mark: somebody edited it. Edgewise cannot know whose it is, so it neither changes nor deletes it.',
    remedy: 'Mend the metadata by hand, or adopt the resource, which writes a new mark.',
    bad: toPlanOf(POOL, { live: toPools({ bkdwd_edited: ['production', 'my pool'] }) }),
    good: { live: toPools({ bkdwd_edited: OURS }) },
  },
  'duplicate-mark': {
    meaning:
      'Two live resources say that they are the same of ours: one was copied together with its metadata, or a replace broke off. One is kept and the other deleted, and the plan shows which.',
    remedy: 'Nothing, if the plan deletes the right one. Else give the copy other metadata before you apply.',
    bad: toPlanOf(POOL, { live: toPools({ bkdwd_first: OURS, bkdwd_second: OURS }) }),
    good: { live: toPools({ bkdwd_first: OURS }) },
  },
  lockout: {
    meaning:
      'An IP restriction that is enforced on the API, the dashboard or agents may shut out the very pipeline that applies it, and nobody could undo that with edgewise. It is written last, and the plan warns.',
    remedy:
      'Make sure that its IP policies allow the address that edgewise runs from. Apply it without `enforced` first, and look at its warnings.',
    bad: toPlanOf(toRestriction('  enforced: true')),
    good: mended(
      toRestriction(
        '  enforced: false',
        'lint:',
        '  allow:',
        '    restriction-not-enforced: its warnings are watched for a week first',
      ),
    ),
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;
