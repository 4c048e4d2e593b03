import { Rejection } from '../../../kernel/rejection.js';
import { isPath, PATH_CHARACTERS_MAX } from './content.policy.js';
import { type MonitorCheck, THRESHOLD_OPERATORS, type ThresholdOperator } from './monitor.events.js';

export const PATTERN_CHARACTERS_MAX = 500;
export const STATES_MAX = 20;
const STATE_CHARACTERS_MAX = 100;

const CHECKS = ['changed', 'new_items', 'regex', 'threshold', 'status'] as const;

type Fields = Readonly<Record<string, unknown>>;

const refused = (text: string): Rejection => new Rejection('monitor-refused', text);

/** Parses a check: its name, or an object with its `type`. @throws Rejection monitor-refused */
export function checkIn(value: unknown): MonitorCheck {
  if (value === undefined || value === null || value === '') return { type: 'changed' };
  const fields: Fields = typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : { type: value };
  switch (fields['type']) {
    case 'changed':
      return { type: 'changed' };
    case 'new_items':
      return { type: 'new_items', itemsPath: pathIn(fields, 'items_path'), idField: pathIn(fields, 'id_field') };
    case 'regex':
      return { type: 'regex', pattern: patternIn(fields['pattern']), when: whenIn(fields['when']) };
    case 'threshold':
      return thresholdIn(fields);
    case 'status':
      return { type: 'status', valuePath: pathIn(fields, 'value_path'), terminal: statesIn(fields['terminal']) };
    default:
      throw refused(`check.type must be one of ${CHECKS.join(', ')}`);
  }
}

const INGEST_ENDS = ['completed', 'failed'] as const;

/** The check of an ingestion, which waits until the ingestion ends with one of the wanted results, by default any. */
export function ingestCheckIn(value: unknown, note: (text: string) => void): MonitorCheck {
  const check = (state: readonly string[]): MonitorCheck => ({ type: 'status', valuePath: 'status', terminal: state });
  if (value === undefined || value === null || value === '') return check(INGEST_ENDS);
  const { type, terminal } = (typeof value === 'object' ? value : { type: value }) as Fields;
  const ends = Array.isArray(terminal) ? INGEST_ENDS.filter((end) => terminal.includes(end)) : [];
  if (type === 'status' && ends.length > 0) return check(ends);
  if (type !== 'status') note('check was ignored: an ingest monitor waits for the end of an ingestion');
  return check(INGEST_ENDS);
}

function pathIn(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && isPath(value)) return value;
  throw refused(`check.${name} must be a dotted path such as data.items[0].price, of at most ${PATH_CHARACTERS_MAX} characters`);
}

function patternIn(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw refused('check.pattern is required');
  if (value.length > PATTERN_CHARACTERS_MAX) {
    throw refused(`check.pattern must have at most ${PATTERN_CHARACTERS_MAX} characters`);
  }
  return value;
}

function whenIn(value: unknown): 'match' | 'no_match' {
  if (value === undefined || value === null || value === '' || value === 'match') return 'match';
  if (value === 'no_match') return 'no_match';
  throw refused('check.when must be match or no_match');
}

function thresholdIn(fields: Fields): MonitorCheck {
  const { op } = fields;
  const given = fields['value'];
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (!THRESHOLD_OPERATORS.includes(op as ThresholdOperator)) {
    throw refused(`check.op must be one of ${THRESHOLD_OPERATORS.join(' ')}`);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refused('check.value must be a number');
  return { type: 'threshold', valuePath: pathIn(fields, 'value_path'), op: op as ThresholdOperator, value };
}

function statesIn(value: unknown): readonly string[] {
  const isState = (each: unknown): each is string =>
    typeof each === 'string' && each.trim() !== '' && each.length <= STATE_CHARACTERS_MAX;
  const states = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  if (!states.every(isState) || states.length === 0 || states.length > STATES_MAX) {
    throw refused(`check.terminal must list 1 to ${STATES_MAX} states, of at most ${STATE_CHARACTERS_MAX} characters each`);
  }
  return [...new Set(states.map((state) => state.trim()))];
}
