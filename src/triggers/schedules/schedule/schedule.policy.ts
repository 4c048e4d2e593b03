import { Rejection } from '../../../kernel/rejection.js';

/** How slots become runs. */
export type LedgerRules = Readonly<{
  /** A recurring slot is still run when it is late by no more than this. */
  misfireGraceMs: number;
  /** A recurring slot for which no run was started is missed this long after it. */
  missedAfterMs: number;
  /** A run that is under way for longer is given up. */
  runLimitMs: number;
  /** A recurring schedule pauses itself after so many failures in a row; 0: never. */
  failuresMax: number;
}>;

/** How far the clocks of two processes may be apart: what one has begun, another does not give up at once. */
const CLOCKS_APART_MS_MAX = 20 * 60_000;
/** How long a run may take to start and to be reported, beyond its own time. */
const RUN_SLACK_MS = 5 * 60_000;

export const runLimitMs = (timeoutMs: number): number => timeoutMs + RUN_SLACK_MS + CLOCKS_APART_MS_MAX;

/** Slots that one append decides on at most: the rest of an outage is for the next append. */
export const SLOTS_PER_APPEND_MAX = 200;

/** How a schedule stands is said again after so many slots. */
export const SNAPSHOT_AFTER_SLOTS = 200;
/** Two snapshots are hardly ever further apart: an append of slots, and a run, a pause and a change for some of them. */
export const SNAPSHOT_WITHIN_EVENTS_MAX = 1_000;

export const scheduleNotFound = () => new Rejection('schedule-not-found', 'schedule not found');
