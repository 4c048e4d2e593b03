import { describe, expect, it } from '@jest/globals';
import type { Rejection } from '../../../kernel/rejection.js';
import { TASK_NAME_CHARACTERS_MAX, type TaskRequest, parseTaskDefinition } from './task-definition.policy.js';
import { INSTRUCTION_CHARACTERS_MAX, TOOL_ALLOWLIST_ENTRIES_MAX } from './definition.policy.js';

const now = new Date('2026-03-28T12:00:00Z');
const limits = { horizonMs: 365 * 86_400_000 };
const asked = (more: Partial<TaskRequest>): TaskRequest => ({ instruction: 'Look.', toolAllowlist: [], ...more });
const definition = (more: Partial<TaskRequest>) => parseTaskDefinition(asked(more), limits, now);
const runAt = (more: Partial<TaskRequest>) => {
  const { timing } = definition(more);
  return timing.kind === 'once' ? timing.runAt : undefined;
};
const refusal = (more: Partial<TaskRequest>): string | undefined => {
  try {
    definition(more);
    return undefined;
  } catch (error) {
    return (error as Rejection).message;
  }
};

describe('a task', () => {
  it('runs once at its time, with the tools that need no approval', () =>
    expect(definition({ instruction: ' Look.\nThen tell me. ', delay: '2h', toolAllowlist: ['t1'] })).toEqual({
      name: 'Look.',
      instruction: 'Look.\nThen tell me.',
      timing: { kind: 'once', runAt: '2026-03-28T14:00:00.000Z', timezone: 'UTC' },
      toolAllowlist: ['t1'],
      modelId: null,
      tokenBudget: null,
    }));

  it.each([
    ['1s', '2026-03-28T12:00:01.000Z'],
    ['90m', '2026-03-28T13:30:00.000Z'],
    [' 2 H ', '2026-03-28T14:00:00.000Z'],
    ['365d', '2027-03-28T12:00:00.000Z'],
  ])('is due after the delay %s', (delay, moment) => expect(runAt({ delay })).toBe(moment));

  it('is due at a time in its time zone, which may skip times', () => {
    expect(runAt({ run_at: '2026-03-28T14:00', timezone: 'Europe/Prague' })).toBe('2026-03-28T13:00:00.000Z');
    expect(runAt({ run_at: '2026-03-29T02:30', timezone: 'Europe/Prague' })).toBe('2026-03-29T01:00:00.000Z');
    expect(runAt({ run_at: '2026-03-28T15:00:00+02:00', timezone: 'UTC' })).toBe('2026-03-28T13:00:00.000Z');
  });

  it('is named after its first line, truncated between characters', () => {
    const line = 'x'.repeat(TASK_NAME_CHARACTERS_MAX);
    expect(definition({ delay: '1h', instruction: `${line}\r\nmore` }).name).toBe(line);
    expect(definition({ delay: '1h', instruction: `${line}x` }).name).toBe(`${'x'.repeat(TASK_NAME_CHARACTERS_MAX - 1)}…`);
    expect(definition({ delay: '1h', instruction: `${'x'.repeat(TASK_NAME_CHARACTERS_MAX - 2)}😀😀` }).name?.isWellFormed()).toBe(
      true,
    );
  });

  it('may use a limited number of tools', () => {
    const toolAllowlist = Array.from({ length: TOOL_ALLOWLIST_ENTRIES_MAX + 1 }, (_, index) => `t${index}`);
    expect(definition({ delay: '1h', toolAllowlist }).toolAllowlist).toHaveLength(TOOL_ALLOWLIST_ENTRIES_MAX);
  });

  it.each<[Partial<TaskRequest>, string]>([
    [{ instruction: ' ', delay: '1h' }, 'instruction is required.'],
    [{ instruction: 7, delay: '1h' }, 'instruction is required.'],
    [
      { instruction: 'x'.repeat(INSTRUCTION_CHARACTERS_MAX + 1), delay: '1h' },
      `instruction is longer than ${INSTRUCTION_CHARACTERS_MAX} characters.`,
    ],
    [{}, 'provide either `delay` or `run_at`.'],
    [{ delay: '', run_at: null }, 'provide either `delay` or `run_at`.'],
    [{ delay: '1h', run_at: '2026-04-01' }, 'provide only one of `delay` or `run_at`.'],
    [{ delay: '1h', timezone: 'Mars/Olympus' }, 'Unknown timezone: Mars/Olympus'],
    [{ delay: 'soon' }, "delay must look like '30s', '15m', '2h', or '1d'."],
    [{ delay: '1h30m' }, "delay must look like '30s', '15m', '2h', or '1d'."],
    [{ delay: '-1h' }, "delay must look like '30s', '15m', '2h', or '1d'."],
    [{ delay: '0s' }, 'delay must be positive.'],
    [{ delay: '366d' }, 'run_at is beyond the maximum allowed scheduling horizon.'],
    [{ delay: `${'9'.repeat(400)}d` }, 'run_at is beyond the maximum allowed scheduling horizon.'],
    [{ run_at: '2028-01-01' }, 'run_at is beyond the maximum allowed scheduling horizon.'],
    [{ run_at: 'tomorrow' }, 'Invalid run_at: tomorrow'],
    [{ run_at: 7 }, 'run_at must be an ISO 8601 string.'],
    [{ run_at: '2026-03-28T12:00:00Z' }, 'run_at is in the past.'],
    [{ run_at: '2026-03-28T14:00:00+02:00', timezone: 'Europe/Prague' }, 'run_at is in the past.'],
  ])('with %j is refused', (more, message) => expect(refusal(more)).toBe(message));
});
