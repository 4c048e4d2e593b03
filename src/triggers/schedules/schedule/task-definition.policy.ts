import { shortened } from '../../../kernel/cut-text.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { ScheduleDefinition } from './schedule.events.js';
import { isTimezone, momentOf } from './slots.policy.js';
import {
  INSTRUCTION_CHARACTERS_MAX,
  TEXT_CHARACTERS_MAX,
  type DefinitionLimits,
  TOOL_ALLOWLIST_ENTRIES_MAX,
} from './definition.policy.js';

/** Maximum length of a task's name, which is the first line of its instruction. */
export const TASK_NAME_CHARACTERS_MAX = 80;
/** Maximum length of an invalid value that an error message quotes. */
const QUOTED_CHARACTERS_MAX = 100;

/** The request for a task as a model sends it, not validated. */
export type TaskRequest = Readonly<{
  instruction?: unknown;
  delay?: unknown;
  run_at?: unknown;
  timezone?: unknown;
  /** The ids of the chat's tools that need no approval. */
  toolAllowlist: readonly string[];
}>;

const invalid = (text: string) => new Rejection('invalid-schedule', text);

/** The definition of a one-time task. @throws Rejection invalid-schedule */
export function parseTaskDefinition(
  asked: TaskRequest,
  { horizonMs }: Pick<DefinitionLimits, 'horizonMs'>,
  now: Date,
): ScheduleDefinition {
  const instruction = instructionIn(asked.instruction);
  const timezone = timezoneIn(asked.timezone);
  if (isLeftOut(asked.delay) && isLeftOut(asked.run_at)) throw invalid('provide either `delay` or `run_at`.');
  if (!isLeftOut(asked.delay) && !isLeftOut(asked.run_at)) throw invalid('provide only one of `delay` or `run_at`.');
  const inMs = isLeftOut(asked.delay) ? momentIn(asked.run_at, timezone).getTime() - now.getTime() : delayMs(asked.delay);
  if (inMs <= 0) throw invalid('run_at is in the past.');
  if (inMs > horizonMs) throw invalid('run_at is beyond the maximum allowed scheduling horizon.');
  return {
    name: nameOf(instruction),
    instruction,
    timing: { kind: 'once', runAt: new Date(now.getTime() + inMs).toISOString(), timezone },
    toolAllowlist: asked.toolAllowlist.slice(0, TOOL_ALLOWLIST_ENTRIES_MAX),
    modelId: null,
    tokenBudget: null,
  };
}

const isLeftOut = (value: unknown): boolean => value === undefined || value === null || value === '';

function instructionIn(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw invalid('instruction is required.');
  if (value.length > INSTRUCTION_CHARACTERS_MAX)
    throw invalid(`instruction is longer than ${INSTRUCTION_CHARACTERS_MAX} characters.`);
  return value.trim();
}

function timezoneIn(value: unknown): string {
  if (isLeftOut(value)) return 'UTC';
  const text = String(value).trim();
  if (text.length > TEXT_CHARACTERS_MAX || !isTimezone(text)) throw invalid(`Unknown timezone: ${quoted(text)}`);
  return text;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DELAY = /^\s*(\d+)\s*([smhd])\s*$/i;

function delayMs(value: unknown): number {
  const [, amount, unit] = DELAY.exec(String(value)) ?? [];
  if (amount === undefined || unit === undefined) throw invalid("delay must look like '30s', '15m', '2h', or '1d'.");
  if (Number(amount) === 0) throw invalid('delay must be positive.');
  return Number(amount) * UNITS_MS[unit.toLowerCase()]!;
}

function momentIn(value: unknown, timezone: string): Date {
  if (typeof value !== 'string') throw invalid('run_at must be an ISO 8601 string.');
  const moment = momentOf(value.trim(), timezone);
  if (!moment) throw invalid(`Invalid run_at: ${quoted(value)}`);
  return moment;
}

const quoted = (text: string): string => text.slice(0, QUOTED_CHARACTERS_MAX).toWellFormed();

function nameOf(instruction: string): string {
  const [line = ''] = instruction.split(/\r?\n/, 1);
  return line.length <= TASK_NAME_CHARACTERS_MAX ? line.trimEnd() : shortened(line, TASK_NAME_CHARACTERS_MAX);
}
