import { Rejection } from '../../../kernel/rejection.js';
import { isLongerThan } from '../../../resources/text-length.policy.js';
import type { ScheduleDefinition, ScheduleTiming } from './schedule.events.js';
import { cadenceSeconds, isTimezone, momentOf, nextSlot } from './slots.policy.js';

export const SCHEDULE_NAME_CHARACTERS_MAX = 200;
export const INSTRUCTION_CHARACTERS_MAX = 100_000;
export const TOOL_ALLOWLIST_ENTRIES_MAX = 200;
export const TEXT_CHARACTERS_MAX = 200;

/** The definition of a schedule as a client sends it, not validated. */
export type DefinitionRequest = Readonly<{
  name?: unknown;
  instruction?: unknown;
  trigger_type?: unknown;
  timezone?: unknown;
  cron?: unknown;
  run_at?: unknown;
  end_at?: unknown;
  tool_allowlist?: unknown;
  model_id?: unknown;
  token_budget?: unknown;
}>;

export type DefinitionLimits = Readonly<{ cadenceSecondsMin: number; horizonMs: number }>;

const invalid = (text: string) => new Rejection('invalid-schedule', text);

/** The definition of a new schedule. @throws Rejection invalid-schedule */
export function parseDefinition(asked: DefinitionRequest, limits: DefinitionLimits, now: Date): ScheduleDefinition {
  const kind = asked.trigger_type ?? 'recurring';
  if (kind !== 'once' && kind !== 'recurring') throw invalid("trigger_type must be 'recurring' or 'once'");
  const instruction = instructionIn(asked.instruction);
  const timezone = timezoneIn(asked.timezone ?? 'UTC');
  const timing = kind === 'once' ? onceIn(asked, timezone, limits, now) : recurringIn(asked, timezone, limits, now);
  return {
    name: textIn('name', asked.name, SCHEDULE_NAME_CHARACTERS_MAX),
    instruction,
    timing,
    toolAllowlist: allowlistIn(asked.tool_allowlist ?? []),
    modelId: textIn('model_id', asked.model_id, TEXT_CHARACTERS_MAX),
    tokenBudget: budgetIn(asked.token_budget),
  };
}

/** The changes that a client requests. Omitted fields stay as they are. @throws Rejection invalid-schedule */
export function changesIn(
  before: ScheduleDefinition,
  asked: DefinitionRequest,
  limits: DefinitionLimits,
  now: Date,
): Partial<ScheduleDefinition> {
  const timing = timingAfter(before.timing, asked, limits, now);
  return {
    ...(asked.name !== undefined && { name: textIn('name', asked.name, SCHEDULE_NAME_CHARACTERS_MAX) }),
    ...(asked.instruction !== undefined && { instruction: instructionIn(asked.instruction) }),
    ...(timing && { timing }),
    ...(asked.tool_allowlist !== undefined && { toolAllowlist: allowlistIn(asked.tool_allowlist) }),
    ...(asked.model_id !== undefined && { modelId: textIn('model_id', asked.model_id, TEXT_CHARACTERS_MAX) }),
    ...(asked.token_budget !== undefined && { tokenBudget: budgetIn(asked.token_budget) }),
  };
}

/** The new time for a resumed one-time schedule; undefined if the client gives none. @throws Rejection invalid-schedule */
export function timingResumed(
  before: ScheduleTiming,
  runAt: unknown,
  { horizonMs }: DefinitionLimits,
  now: Date,
): ScheduleTiming | undefined {
  if (runAt === undefined || runAt === null) return undefined;
  if (before.kind === 'recurring') throw invalid('run_at is only for one-time schedules');
  const moment = momentIn('run_at', runAt, before.timezone);
  if (moment.getTime() - now.getTime() > horizonMs) throw invalid('run_at is too far in the future');
  return { ...before, runAt: moment.toISOString() };
}

function timingAfter(
  before: ScheduleTiming,
  asked: DefinitionRequest,
  limits: DefinitionLimits,
  now: Date,
): ScheduleTiming | undefined {
  const { timezone: zone, cron, run_at: runAt, end_at: endAt } = asked;
  if ([zone, cron, runAt, endAt].every((each) => each === undefined)) return undefined;
  const timezone = zone === undefined ? before.timezone : timezoneIn(zone);
  if (before.kind === 'once') {
    refuseForOnce(asked);
    return runAt === undefined ? { ...before, timezone } : onceIn(asked, timezone, limits, now);
  }
  if (runAt !== undefined && runAt !== null) throw invalid('run_at is only for one-time schedules');
  const after = { ...before, timezone, cron: cron === undefined ? before.cron : cronIn(cron) };
  if (after.cron !== before.cron || after.timezone !== before.timezone) refuseTooFrequent(after, limits, now);
  return endAt === undefined ? after : { ...after, endAt: endIn(endAt, timezone) };
}

function onceIn(asked: DefinitionRequest, timezone: string, { horizonMs }: DefinitionLimits, now: Date): ScheduleTiming {
  refuseForOnce(asked);
  if (asked.run_at === undefined || asked.run_at === null || asked.run_at === '') {
    throw invalid("run_at is required for trigger_type 'once'");
  }
  const runAt = momentIn('run_at', asked.run_at, timezone);
  if (runAt <= now) throw invalid('run_at must be in the future');
  if (runAt.getTime() - now.getTime() > horizonMs) throw invalid('run_at is too far in the future');
  return { kind: 'once', runAt: runAt.toISOString(), timezone };
}

function refuseForOnce({ cron, end_at: endAt }: DefinitionRequest): void {
  if (cron !== undefined && cron !== null) throw invalid('cron is only for recurring schedules');
  if (endAt !== undefined && endAt !== null) throw invalid('end_at is only for recurring schedules');
}

function recurringIn(asked: DefinitionRequest, timezone: string, limits: DefinitionLimits, now: Date): ScheduleTiming {
  if (asked.run_at !== undefined && asked.run_at !== null) throw invalid('run_at is only for one-time schedules');
  const timing = { kind: 'recurring', cron: cronIn(asked.cron), timezone, endAt: endIn(asked.end_at, timezone) } as const;
  refuseTooFrequent(timing, limits, now);
  if (!nextSlot(timing, now)) throw invalid('end_at is before the first cron tick');
  return timing;
}

function refuseTooFrequent(
  timing: ScheduleTiming & { kind: 'recurring' },
  { cadenceSecondsMin }: DefinitionLimits,
  now: Date,
): void {
  if (!nextSlot({ ...timing, endAt: null }, now)) throw invalid('invalid cron: it never comes due');
  const seconds = cadenceSeconds(timing, now);
  if (seconds !== undefined && seconds < cadenceSecondsMin) {
    throw invalid(`cadence below minimum interval (${seconds}s < ${cadenceSecondsMin}s)`);
  }
}

function instructionIn(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw invalid('instruction is required');
  if (isLongerThan(value, INSTRUCTION_CHARACTERS_MAX))
    throw invalid(`instruction is longer than ${INSTRUCTION_CHARACTERS_MAX} characters`);
  return value;
}

function timezoneIn(value: unknown): string {
  if (typeof value !== 'string' || value.length > TEXT_CHARACTERS_MAX || !isTimezone(value)) throw invalid('unknown timezone');
  return value;
}

function cronIn(value: unknown): string {
  if (value === undefined || value === null || value === '') throw invalid('cron is required');
  if (typeof value !== 'string') throw invalid('invalid cron');
  return value.trim();
}

function endIn(value: unknown, timezone: string): string | null {
  return value === undefined || value === null ? null : momentIn('end_at', value, timezone).toISOString();
}

function momentIn(name: string, value: unknown, timezone: string): Date {
  const moment = typeof value === 'string' ? momentOf(value, timezone) : undefined;
  if (!moment) throw invalid(`invalid ${name}`);
  return moment;
}

function textIn(name: string, value: unknown, charactersMax: number): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || isLongerThan(value, charactersMax)) {
    throw invalid(`${name} must be a text of at most ${charactersMax} characters`);
  }
  return value;
}

function budgetIn(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid('token_budget must be a non-negative integer');
  return value as number;
}

function allowlistIn(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.length <= TOOL_ALLOWLIST_ENTRIES_MAX;
  if (!isList || !value.every((each) => typeof each === 'string' && each.length <= TEXT_CHARACTERS_MAX)) {
    throw invalid(`tool_allowlist must be a list of at most ${TOOL_ALLOWLIST_ENTRIES_MAX} tool ids`);
  }
  return value as readonly string[];
}
