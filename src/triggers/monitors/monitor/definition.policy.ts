import { Rejection } from '../../../kernel/rejection.js';
import { checkIn, ingestCheckIn } from './check-arguments.policy.js';
import { durationText, secondsIn } from './durations.policy.js';
import type { MonitorSource, MonitorDefinition } from './monitor.events.js';

/** The request for a monitor as a model sends it, not validated. */
export type MonitorRequest = Readonly<
  Partial<
    Record<'description' | 'source' | 'check' | 'condition' | 'on_match' | 'interval' | 'expires_in' | 'max_wakes', unknown>
  >
>;

/** The limits and defaults for new monitors. */
export type DefinitionRules = Readonly<{
  intervalSeconds: number;
  intervalSecondsMin: number;
  ttlSeconds: number;
  ttlSecondsMax: number;
  followUps: number;
  followUpsMax: number;
}>;

export const DESCRIPTION_CHARACTERS_MAX = 500;
export const WORDS_CHARACTERS_MAX = 2000;

const refused = (text: string): Rejection => new Rejection('monitor-refused', text);

/**
 * Validates a request. Values beyond a limit are replaced by the limit, and `notes` describes that. The caller has already
 * resolved the source. @throws Rejection monitor-refused
 */
export function parseDefinition(
  asked: MonitorRequest,
  source: MonitorSource,
  rules: DefinitionRules,
  now: Date,
): Readonly<{ definition: MonitorDefinition; notes: readonly string[] }> {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const description = wordsIn('description', asked.description, DESCRIPTION_CHARACTERS_MAX);
  if (description === null) throw refused('description is required');
  const check = source.type === 'ingest' ? ingestCheckIn(asked.check, note) : checkIn(asked.check);
  const definition: MonitorDefinition = {
    description,
    source,
    check,
    condition: wordsIn('condition', asked.condition, WORDS_CHARACTERS_MAX),
    onMatch: wordsIn('on_match', asked.on_match, WORDS_CHARACTERS_MAX),
    intervalSeconds: intervalIn(asked.interval, rules, note),
    followUpsMax: followUpsIn(asked.max_wakes, rules, note),
    expiresAt: new Date(now.getTime() + 1000 * ttlIn(asked.expires_in, rules, note)).toISOString(),
  };
  return { definition, notes };
}

function wordsIn(name: string, value: unknown, charactersMax: number): string | null {
  if (isLeftOut(value)) return null;
  if (typeof value !== 'string') throw refused(`${name} must be a text`);
  const words = value.trim().toWellFormed();
  if (words.length > charactersMax) throw refused(`${name} must have at most ${charactersMax} characters`);
  return words === '' ? null : words;
}

type Note = (text: string) => void;

function intervalIn(value: unknown, { intervalSeconds, intervalSecondsMin, ttlSecondsMax }: DefinitionRules, note: Note): number {
  const asked = isLeftOut(value) ? intervalSeconds : secondsIn('interval', value);
  if (asked < intervalSecondsMin && !isLeftOut(value)) {
    note(`interval was raised to ${durationText(intervalSecondsMin)}, the minimum`);
  }
  return Math.min(Math.max(asked, intervalSecondsMin), ttlSecondsMax);
}

function ttlIn(value: unknown, { ttlSeconds, ttlSecondsMax }: DefinitionRules, note: Note): number {
  const asked = isLeftOut(value) ? ttlSeconds : secondsIn('expires_in', value);
  if (asked > ttlSecondsMax && !isLeftOut(value)) {
    note(`expires_in was shortened to ${durationText(ttlSecondsMax)}, the maximum`);
  }
  return Math.min(asked, ttlSecondsMax);
}

function followUpsIn(value: unknown, { followUps, followUpsMax }: DefinitionRules, note: Note): number {
  const asked = isLeftOut(value) ? followUps : Number(value);
  if (!Number.isSafeInteger(asked) || asked < 1) throw refused('max_wakes must be a whole number, at least 1');
  if (asked > followUpsMax && !isLeftOut(value)) note(`max_wakes was lowered to ${followUpsMax}, the maximum`);
  return Math.min(asked, followUpsMax);
}

const isLeftOut = (value: unknown): value is undefined | null | '' => value === undefined || value === null || value === '';
