import { parseDurationMs } from '../../src/kinds/duration.ts';
import {
  anyJson,
  boolean,
  createModuleType,
  type Field,
  field,
  idOf,
  integer,
  jsonWithLists,
  listOf,
  mapOf,
  number,
  objectOf,
  oneOf,
  refTo,
  setOf,
  text,
  textOfFormat,
  timestamp,
} from '../../src/kinds/field.ts';
import { FORMATS, type TextFormat } from '../../src/kinds/formats.ts';
import { defineKind, type Kind } from '../../src/kinds/kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from '../../src/kinds/tables/standard-fields.ts';
import { type Json, toJsonList } from '../../src/model/json.ts';

/**
 * Invented kinds, which consist only of their tables. Together they use every entry that a table can have (`vocabulary.test.ts`), and every
 * feature has to work with them.
 */

const FORMAT_NAMES = Object.keys(FORMATS) as readonly TextFormat[]; // the keys of a constant table

/** A field in each text format, with the name of the format. */
const NOTES: Readonly<Record<string, Field>> = Object.fromEntries(
  FORMAT_NAMES.map((format) => [format.replaceAll('-', '_'), field(textOfFormat(format), `A note: a ${format}.`)]),
);

const SIGNAL = objectOf(
  {
    meaning: field(text({ known: ['danger', 'welcome'] }), 'What it says to ships.', {
      required: true,
      isCaption: true,
    }),
    ships: field(setOf(text({ cel: ['ship.flag', 'ship.cargo.*'] })), 'CEL expressions that select the ships.'),
    details: field(jsonWithLists({ charts: idOf('chart') }), 'Whatever else there is to say.'),
  },
  'signal',
);

const LIGHTHOUSE = defineKind({
  name: 'Lighthouse',
  role: 'owned',
  title: 'lighthouse',
  description: 'A light that ships see.',
  idPrefix: 'lth',
  path: '/coast/lighthouses',
  listKey: 'lighthouses',
  uri: 'path',
  check: ({ range, share }) =>
    range === 13 && share === 0 ? [{ path: ['share'], message: 'share is 0, and a range of 13 needs one' }] : [],
  checkHealth: ({ condition }) =>
    condition === 'broken'
      ? [{ message: 'its lamp cannot be lit', remedy: 'Send somebody to mend the lamp.', field: 'is_lit' }]
      : [],
  describeState: ({ condition }) => (condition === null ? [] : [`lamp is ${condition}`]),
  words: { fence: '' },
  example: { spec: { harbour: 'harbour.example.com', channels: ['16.vhf.example.net:16'], range: 20 } },
  restrictsAccess: true,
  canLockOut: ({ is_lit: isLit }) => isLit === true,
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    harbour: field(textOfFormat('domain'), 'The harbour that it belongs to. One lighthouse for each harbour.', {
      lifecycle: 'immutable',
      required: true,
      unique: true,
    }),
    channels: field(setOf(textOfFormat('hostport')), 'Where it is spoken to. Each belongs to one lighthouse.', {
      unique: true,
      carries: 'by-each',
      summary: { prefix: 'is spoken to on', unset: 'is silent' },
    }),
    colour: field(oneOf('white', 'red', 'green'), 'The colour of the light.', {
      default: 'white',
      absentWhenDefault: true,
    }),
    is_lit: field(boolean, 'Whether it is lit.', {
      default: false,
      restriction: 'while-on',
      whenUnset: {
        code: 'restriction-not-enforced',
        message: 'it is dark, so that no ship sees it',
        remedy: 'Light it.',
      },
    }),
    range: field(integer(1, 40), 'How far it is seen, in miles.', { lifecycle: 'immutable', serviceDefault: true }),
    share: field(number(0, 1), 'Share of the time in which it shines.', { default: 0 }),
    supply_id: field(refTo('bkdwd', 'bkdhr'), 'What it gets its power from.', {
      responseName: 'supply',
      clear: 'null',
    }),
    guarded_by: field(listOf(refTo('edgtcp'), { orSingle: true }), 'The edges on its way, the nearest first.'),
    crew: field(setOf(textOfFormat('principal'), { unrestricted: '*' }), 'Who may enter. None, or `*`: everybody.', {
      restriction: 'allow-list-or-all',
    }),
    sectors: field(mapOf(idOf('bkdhr', 'bkdtg'), integer(0, 100), { isShares: true }), 'Who sees how much of it.', {
      alwaysSent: true,
    }),
    labels: field(
      mapOf(textOfFormat('header-name'), textOfFormat('header-value'), {
        caseInsensitive: true,
        findMistakes: () => [],
      }),
      'Labels, whose names are the same in any case.',
    ),
    key: field(text({ format: 'ssh-public-key', orFile: true }), 'Key of its door.', { lifecycle: 'immutable' }),
    notes: field(objectOf(NOTES), 'Notes of many forms.', { clear: 'null' }),
    fog_horn: field(
      createModuleType(
        {
          signals: field(setOf(refTo('horn'), { minItems: 1 }), 'What it plays.', {
            required: true,
            responseName: 'melodies',
          }),
          volume: field(integer(0, 10), 'How loud it is.', { default: 0 }),
        },
        {
          findMistakes: ({ volume = 0 }) =>
            volume === 0
              ? [{ code: 'module-without-effect', path: ['volume'], message: 'is silent: its volume is zero' }]
              : [],
          judgeAccess: ({ signals }) => (toJsonList(signals).length > 2 ? { effect: 'restricts' } : { effect: 'none' }),
        },
      ),
      'Fog horn module: what is heard when nothing is seen.',
      { clear: 'delete', hasPath: true },
    ),
    signalling: field(
      createModuleType(
        {
          signals: field(listOf(SIGNAL, { orSingle: true }), 'What it says: one signal or a list.'),
          at_night: field(listOf(SIGNAL), 'What it says at night, in this order.'),
        },
        { others: field(anyJson, 'What it says at another time.') },
      ),
      'What it says with its light. Disabled and without a signal it is the same as none.',
      { clear: 'disable' },
    ),
    condition: field(oneOf('good', 'broken'), 'How it is.', { lifecycle: 'computed', nullWhenUnset: true }),
    inspected: field(objectOf({ at: field(timestamp, 'When.') }), 'The last inspection.', { lifecycle: 'computed' }),
  },
});

const PILOT_PASS = defineKind({
  name: 'PilotPass',
  role: 'owned',
  title: 'pilot pass',
  description: 'Lets a pilot in for a time.',
  idPrefix: 'plt',
  path: '/pilot_passes',
  listKey: 'passes',
  validity: { after: 'valid_after', until: 'valid_until', defaultMs: 86_400_000 },
  issued: {
    field: 'paper',
    check: (text) => (text.includes('\n\n') ? 'has an empty line in it' : undefined),
  },
  check: ({ valid_after: after, valid_until: until }) =>
    typeof after === 'string' && typeof until === 'string' && Date.parse(after) >= Date.parse(until)
      ? [{ path: ['valid_until'], message: 'valid_until is not later than valid_after' }]
      : [],
  lifecycle: {
    valid_for: field(textOfFormat('duration'), 'How long it is valid, from when it is made.'),
    renew_before: field(textOfFormat('duration'), 'How long before its end it is replaced.'),
    rotate_after: field(textOfFormat('duration'), 'How old it may become.'),
  },
  checkLifecycle: (settings, spec) => {
    const { valid_for: validFor = '24h', renew_before: renewBefore = '0h' } = settings;
    const isTimed = spec['valid_after'] !== undefined || spec['valid_until'] !== undefined;
    if (settings['valid_for'] !== undefined && isTimed)
      return [{ path: ['valid_for'], message: 'lifecycle.valid_for and the times of spec are mutually exclusive' }];
    if (spec['valid_until'] !== undefined || toMs(renewBefore) < toMs(validFor)) return [];
    return [{ path: ['renew_before'], message: 'lifecycle.renew_before is not shorter than it is valid' }];
  },
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    secret: field(text(), 'The word at the gate. Only in the response to the creation.', {
      lifecycle: 'one-time',
      replacedConsequence: 'who knows the old word is not let in',
    }),
    pilot_id: field(idOf('usr', 'bot'), 'Whose pass it is.', {
      lifecycle: 'immutable',
      serviceDefault: true,
      keepsLiveValue: true,
    }),
    valid_after: field(timestamp, 'When it becomes valid. Left out: now.', {
      lifecycle: 'immutable',
      serviceDefault: true,
    }),
    valid_until: field(timestamp, 'When it becomes invalid. Left out: a day after valid_after.', {
      lifecycle: 'immutable',
      serviceDefault: true,
      earlierByMs: 60_000,
    }),
    paper: field(text(), 'The pass, to be printed.', { lifecycle: 'computed', createdTask: 'print' }),
  },
});

const BUOY = defineKind({
  name: 'Buoy',
  role: 'attached',
  title: 'buoy',
  description: 'Modules on a buoy that swims already.',
  idPrefix: 'buoy',
  path: '/waters/{water_id}/buoys/{id}',
  fields: {
    water_id: field(idOf('water'), 'Id of the water that it is in.', { lifecycle: 'immutable', required: true }),
    id: field(idOf('buoy'), 'Id of the buoy.', { lifecycle: 'immutable', required: true, unique: true }),
    bell: field(
      createModuleType({
        strikes: field(integer(1, 8), 'How often it strikes.', { default: 1 }),
        password: field(text({ mayBeSecret: true }), 'What a ship signals to silence it.'),
        tone: field(integer(0, 9), 'How high it sounds.', { serviceDefault: true }),
      }),
      'Bell module: what it sounds like.',
      { clear: 'delete', hasPath: true },
    ),
    chain: field(createModuleType({ anchors: field(setOf(idOf('anchor')), 'What it is tied to.') }), 'Chain module.', {
      clear: 'delete',
      hasPath: true,
    }),
  },
});

const SIGHTING = defineKind({
  name: 'Sighting',
  role: 'submitted',
  title: 'sighting',
  description: 'Something seen at sea. Submitted once, then read by id.',
  idPrefix: 'sght',
  path: '/sightings',
  submission: {
    noun: 'sighting',
    purpose: 'tell of what was seen at sea',
    argumentField: 'seen',
    examples: ['whale', 'serpent'],
    status: { field: 'state', decided: 'closed' },
    parts: {
      field: 'creatures',
      title: 'creature',
      name: 'called',
      status: 'verdict',
      decisions: { unknown: 'open', real: 'accepted', imagined: 'rejected', boring: 'ignored' },
    },
  },
  fields: {
    ...IDENTITY_FIELDS,
    seen: field(listOf(text({ maxBytes: 80 }), { minItems: 1 }), 'What was seen.', {
      lifecycle: 'immutable',
      required: true,
    }),
    seen_by: field(text({ maxBytes: 20 }), 'Who saw it.', { lifecycle: 'immutable' }),
    state: field(oneOf('open', 'closed'), 'Whether everything is decided.', { lifecycle: 'computed' }),
    creatures: field(
      listOf(
        objectOf({
          called: field(text(), 'What was seen.'),
          verdict: field(oneOf('unknown', 'real', 'imagined', 'boring'), 'Whether it is believed.'),
        }),
      ),
      'What is decided about each.',
      { lifecycle: 'computed' },
    ),
  },
});

function toMs(duration: Json): number {
  return parseDurationMs(String(duration)) ?? 0;
}

/** The invented kinds, to be added to the registry. */
export const INVENTED_KINDS: readonly Kind[] = [LIGHTHOUSE, PILOT_PASS, BUOY, SIGHTING];
