import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import { Rejection } from '../../../kernel/rejection.js';

/** The rules by which slots become runs. */
export type LedgerRules = Readonly<{
  /** A recurring slot still runs if it is late by at most this. */
  misfireGraceMs: number;
  /** A recurring slot without a run is recorded as missed after this delay. */
  missedAfterMs: number;
  /** A run that takes longer counts as timed out. */
  runLimitMs: number;
  /** A recurring schedule pauses itself after this many failures in a row; 0 means never. */
  failuresMax: number;
}>;

/** Time for queueing and reporting a run, in addition to its own time. */
const RUN_SLACK_MS = 5 * 60_000;

/** How long a schedule waits for its run. A process whose clock is ahead must not time out the runs of others too early. */
export const runLimitMs = (timeoutMs: number): number => timeoutMs + RUN_SLACK_MS + CLOCKS_APART_MS_MAX;

/** Maximum number of slots decided in one append. After an outage, further appends decide on the rest. */
export const SLOTS_PER_APPEND_MAX = 200;

/** A snapshot is taken after this many slots. */
export const SNAPSHOT_AFTER_SLOTS = 200;
/** Two snapshots are rarely further apart than this: between them are an append of slots and some runs, pauses and changes. */
export const SNAPSHOT_WITHIN_EVENTS_MAX = 1_000;

export const scheduleNotFound = () => new Rejection('schedule-not-found', 'schedule not found');
