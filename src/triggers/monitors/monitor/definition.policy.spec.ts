import { describe, expect, it } from '@jest/globals';
import { PATTERN_CHARACTERS_MAX, STATES_MAX } from './check-arguments.policy.js';
import { PATH_CHARACTERS_MAX } from './content.policy.js';
import { durationText, secondsIn } from './durations.policy.js';
import type { MonitorSource } from './monitor.events.js';
import { filledIn } from './placeholders.policy.js';
import { DESCRIPTION_CHARACTERS_MAX, type MonitorRequest, parseDefinition, WORDS_CHARACTERS_MAX } from './definition.policy.js';

const DAY = 86_400;
const rules = {
  intervalSeconds: 900,
  intervalSecondsMin: 300,
  ttlSeconds: 7 * DAY,
  ttlSecondsMax: 30 * DAY,
  followUps: 1,
  followUpsMax: 20,
};
const page: MonitorSource = { type: 'webpage', url: 'https://shop.example/' };
const ingest: MonitorSource = { type: 'ingest', sourceId: 's1', name: 'Guide' };
const now = new Date('2026-01-01T00:00:00Z');
const definition = (asked: MonitorRequest, source: MonitorSource = page) =>
  parseDefinition({ description: 'Price', ...asked }, source, rules, now);

describe('a request for a monitor', () => {
  it('gets defaults for missing values', () =>
    expect(definition({})).toEqual({
      definition: {
        description: 'Price',
        source: page,
        check: { type: 'changed' },
        condition: null,
        onMatch: null,
        intervalSeconds: 900,
        followUpsMax: 1,
        expiresAt: '2026-01-08T00:00:00.000Z',
      },
      notes: [],
    }));

  it('gets the nearest allowed values, with notes', () => {
    const { definition: agreed, notes } = definition({ interval: '10s', expires_in: '1000d', max_wakes: 99 });
    expect(agreed).toMatchObject({ intervalSeconds: 300, followUpsMax: 20, expiresAt: '2026-01-31T00:00:00.000Z' });
    expect(notes).toHaveLength(3);
  });

  it.each<MonitorRequest>([
    { description: '' },
    { description: 'x'.repeat(DESCRIPTION_CHARACTERS_MAX + 1) },
    { condition: 'x'.repeat(WORDS_CHARACTERS_MAX + 1) },
    { on_match: 7 },
    { interval: '5 fortnights' },
    { expires_in: '-1d' },
    { max_wakes: 1.5 },
    { check: 'sometimes' },
    { check: { type: 'regex' } },
    { check: { type: 'regex', pattern: 'x'.repeat(PATTERN_CHARACTERS_MAX + 1) } },
    { check: { type: 'regex', pattern: 'x', when: 'never' } },
    { check: { type: 'threshold', op: '~', value: 1 } },
    { check: { type: 'threshold', op: '<', value: 'much' } },
    { check: { type: 'threshold', op: '<', value: 1, value_path: 'a..b' } },
    { check: { type: 'new_items', items_path: 'x'.repeat(PATH_CHARACTERS_MAX + 1) } },
    { check: { type: 'status', terminal: [] } },
    { check: { type: 'status', terminal: Array.from({ length: STATES_MAX + 1 }, String) } },
  ])('is refused if it is invalid: %j', (asked) =>
    expect(() => definition(asked)).toThrow(expect.objectContaining({ code: 'monitor-refused' })),
  );

  it('for an ingestion waits for its end, whatever check is requested', () => {
    const ends = { type: 'status', valuePath: 'status', terminal: ['completed', 'failed'] };
    expect(definition({}, ingest)).toMatchObject({ definition: { check: ends }, notes: [] });
    expect(definition({ check: { type: 'changed' } }, ingest)).toMatchObject({
      definition: { check: ends },
      notes: [expect.any(String)],
    });
    const failures = { type: 'status', terminal: ['failed', 'lost'] };
    expect(definition({ check: failures }, ingest).definition.check).toMatchObject({ terminal: ['failed'] });
  });
});

it('durations are parsed to seconds and written in the largest unit that divides them', () => {
  expect(['90', '15m', '2 H', 3600].map((each) => secondsIn('interval', each))).toEqual([90, 900, 7200, 3600]);
  expect([1, 90, 900, 7200, DAY].map(durationText)).toEqual(['1 second', '90 seconds', '15 minutes', '2 hours', '1 day']);
});

it('placeholders in the arguments of a watched call are replaced at any depth', () => {
  const times = { now, lastCheckedAt: '2025-12-31T23:00:00.000Z', lastChangedAt: null };
  const args = { q: ['after:{{last_checked_date}}', { at: '{{now}} {{other}}' }], n: 1 };
  expect(filledIn(args, times)).toEqual({ q: ['after:2025/12/31', { at: '2026-01-01T00:00:00.000Z {{other}}' }], n: 1 });
});
