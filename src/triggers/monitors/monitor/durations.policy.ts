import { Rejection } from '../../../kernel/rejection.js';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const DURATION = /^(\d{1,9})\s*(s|m|h|d)?$/i;

/** Parses a duration to seconds: a number of seconds, or a number with a unit such as `15m`. @throws Rejection monitor-refused */
export function secondsIn(name: string, value: unknown): number {
  const [, number, unit = 's'] = DURATION.exec(String(value).trim()) ?? [];
  const seconds = Number(number) * SECONDS[unit.toLowerCase()]!;
  if (seconds > 0) return seconds;
  throw new Rejection('monitor-refused', `${name} must be a number of seconds, or a number with s, m, h or d such as 15m`);
}

/** A duration in words, in the largest unit that divides it evenly. */
export function durationText(seconds: number): string {
  const [unit, size] = Object.entries(SECONDS).findLast(([, each]) => seconds % each === 0) ?? ['s', 1];
  const count = seconds / size;
  return `${count} ${{ s: 'second', m: 'minute', h: 'hour', d: 'day' }[unit]}${count === 1 ? '' : 's'}`;
}
