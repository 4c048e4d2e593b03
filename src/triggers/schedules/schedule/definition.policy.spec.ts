import { describe, expect, it } from '@jest/globals';
import { type Rejection } from '../../../kernel/rejection.js';
import {
  changesIn,
  INSTRUCTION_CHARACTERS_MAX,
  SCHEDULE_NAME_CHARACTERS_MAX,
  type DefinitionRequest,
  parseDefinition,
  timingResumed,
  TOOL_ALLOWLIST_ENTRIES_MAX,
} from './definition.policy.js';

const now = new Date('2026-01-01T12:00:00Z');
const limits = { cadenceSecondsMin: 900, horizonMs: 365 * 86_400_000 };
const recurring: DefinitionRequest = { instruction: 'Look.', cron: '0 9 * * *', timezone: 'Europe/Prague' };
const once: DefinitionRequest = { instruction: 'Look.', trigger_type: 'once', run_at: '2026-01-02T09:00:00Z' };
const refusal = (ask: () => unknown): string | undefined => {
  try {
    ask();
    return undefined;
  } catch (error) {
    return (error as Rejection).message;
  }
};

describe('a new definition', () => {
  it('has the requested values and defaults for the others', () => {
    expect(parseDefinition(recurring, limits, now)).toEqual({
      name: null,
      instruction: 'Look.',
      timing: { kind: 'recurring', cron: '0 9 * * *', timezone: 'Europe/Prague', endAt: null },
      toolAllowlist: [],
      modelId: null,
      tokenBudget: null,
    });
    const asked = { ...once, timezone: 'Europe/Prague', run_at: '2026-01-02T09:00', end_at: null, token_budget: 0, name: 'Look' };
    expect(parseDefinition(asked, limits, now)).toMatchObject({
      name: 'Look',
      tokenBudget: 0,
      timing: { kind: 'once', runAt: '2026-01-02T08:00:00.000Z', timezone: 'Europe/Prague' },
    });
  });

  it('may have a name of as many characters as a name has at most, where a surrogate pair is one', () => {
    const name = '\u{1f642}'.repeat(SCHEDULE_NAME_CHARACTERS_MAX);
    expect(parseDefinition({ ...recurring, name }, limits, now).name).toBe(name);
  });

  it.each<[object, string]>([
    [{ instruction: '  ' }, 'instruction is required'],
    [
      { instruction: 'x'.repeat(INSTRUCTION_CHARACTERS_MAX + 1) },
      `instruction is longer than ${INSTRUCTION_CHARACTERS_MAX} characters`,
    ],
    [{ trigger_type: 'monitor' }, "trigger_type must be 'recurring' or 'once'"],
    [{ timezone: '+02:00' }, 'unknown timezone'],
    [{ cron: undefined }, 'cron is required'],
    [{ cron: '*/10 * * * *' }, 'cadence below minimum interval (600s < 900s)'],
    [{ cron: '0 0 30 2 *' }, 'invalid cron: it never comes due'],
    [{ cron: '@daily' }, 'invalid cron: it needs 5 fields'],
    [{ end_at: 'soon' }, 'invalid end_at'],
    [{ end_at: '2026-01-02T08:59' }, 'end_at is before the first cron tick'],
    [{ run_at: '2026-01-02' }, 'run_at is only for one-time schedules'],
    [{ trigger_type: 'once', cron: undefined }, "run_at is required for trigger_type 'once'"],
    [{ ...once, cron: undefined, run_at: '2026-01-01T12:00:00Z' }, 'run_at must be in the future'],
    [{ ...once, cron: undefined, run_at: '2027-01-01T12:00:01Z' }, 'run_at is too far in the future'],
    [{ ...once, cron: undefined, run_at: 7 }, 'invalid run_at'],
    [{ token_budget: -1 }, 'token_budget must be a non-negative integer'],
    [{ token_budget: 1.5 }, 'token_budget must be a non-negative integer'],
    [
      { name: 'x'.repeat(SCHEDULE_NAME_CHARACTERS_MAX + 1) },
      `name must be a text of at most ${SCHEDULE_NAME_CHARACTERS_MAX} characters`,
    ],
    [
      { tool_allowlist: Array(TOOL_ALLOWLIST_ENTRIES_MAX + 1).fill('t') },
      `tool_allowlist must be a list of at most ${TOOL_ALLOWLIST_ENTRIES_MAX} tool ids`,
    ],
    [{ tool_allowlist: 'all' }, `tool_allowlist must be a list of at most ${TOOL_ALLOWLIST_ENTRIES_MAX} tool ids`],
  ])('with %j is refused: %s', (more, text) =>
    expect(refusal(() => parseDefinition({ ...recurring, ...more }, limits, now))).toBe(text),
  );
});

describe('a change of a definition', () => {
  const before = parseDefinition(recurring, limits, now);
  it('contains only the given fields', () => {
    expect(changesIn(before, {}, limits, now)).toEqual({});
    expect(changesIn(before, { name: '', tool_allowlist: ['t'] }, limits, now)).toEqual({ name: null, toolAllowlist: ['t'] });
    expect(changesIn(before, { timezone: 'UTC' }, limits, now).timing).toMatchObject({ cron: '0 9 * * *', timezone: 'UTC' });
  });
  it('may set an end before the next slot', () =>
    expect(changesIn(before, { end_at: '2026-01-01T13:00' }, limits, now).timing).toMatchObject({
      endAt: '2026-01-01T12:00:00.000Z',
    }));
  it.each<[DefinitionRequest, string]>([
    [{ run_at: '2026-01-03T09:00:00Z' }, 'run_at is only for one-time schedules'],
    [{ instruction: '' }, 'instruction is required'],
    [{ cron: '* * * * *' }, 'cadence below minimum interval (60s < 900s)'],
  ])('with %j is refused: %s', (asked, text) => expect(refusal(() => changesIn(before, asked, limits, now))).toBe(text));
  it('moves a one-time schedule, in the time zone of the schedule', () => {
    const single = parseDefinition({ ...once, timezone: 'Europe/Prague' }, limits, now);
    expect(changesIn(single, { run_at: '2026-07-01T09:00' }, limits, now).timing).toMatchObject({
      runAt: '2026-07-01T07:00:00.000Z',
    });
    expect(refusal(() => changesIn(single, { end_at: '2026-07-01' }, limits, now))).toBe(
      'end_at is only for recurring schedules',
    );
  });
});

it('the time for a resumed schedule is read in its time zone and must be within the horizon', () => {
  const { timing } = parseDefinition({ ...once, timezone: 'Europe/Prague' }, limits, now);
  expect(timingResumed(timing, undefined, limits, now)).toBeUndefined();
  expect(timingResumed(timing, '2026-01-05T10:00', limits, now)).toMatchObject({ runAt: '2026-01-05T09:00:00.000Z' });
  expect(refusal(() => timingResumed(timing, '2028-01-05T10:00', limits, now))).toBe('run_at is too far in the future');
  expect(refusal(() => timingResumed(parseDefinition(recurring, limits, now).timing, '2026-01-05', limits, now))).toBe(
    'run_at is only for one-time schedules',
  );
});
