import type { SettingRow } from '../report/report.ts';
import { SINK_SCHEMA } from '../schemas/stack.ts';
import {
  type EffectiveSetting,
  findKeySource,
  listEffectiveSettings,
  type SettingSources,
} from '../settings/resolve.ts';

/** Lists the value of each setting of a stack, and the origin of the value. */
export function listSettingRows(sources: SettingSources): readonly SettingRow[] {
  return [...listEffectiveSettings(sources).map(createSettingRow), createKeyRow(sources)].sort(
    ({ name: left }, { name: right }) => (left < right ? -1 : 1),
  );
}

function createSettingRow({ path, type, value: given, from, layer }: EffectiveSetting): SettingRow {
  const value = type.type === 'sink' ? SINK_SCHEMA.parse(given) : given; // with its defaults
  const place = layer?.locate(['spec', ...path.split('.')]);
  return {
    name: path,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    from,
    place: place && `${place.file}:${place.line}`,
  };
}

/** Creates the row about the API key, which never contains the key itself. */
function createKeyRow(sources: SettingSources): SettingRow {
  const { variable, from } = findKeySource(sources);
  return { name: 'API key', value: from === undefined ? 'not set' : 'set', from: from ?? variable };
}
