import type { Clock } from '../clock.js';
import type { Ids } from '../ids.js';
import type { Timing } from '../timing.js';
import { decode } from './codec.js';
import { type EventStore, LOG_START, type StoredEvent, StoreUnavailable, WrongRevision } from './event-store.js';
import { logCodec } from './log-format.codec.js';
import { LOG_FORMAT_STREAM, type LogFormatDeclared } from './log-format.events.js';
import { Streams } from './streams.js';

/** The log format that this program writes and reads. It changes only when older logs can no longer be read. */
export const LOG_FORMAT = 1;
/** The first version that declares the format of its logs. */
const FIRST_DECLARING_VERSION = '0.2.0';

const VISIBLE_MS_MAX = 10_000;
const DELAY_MS_MIN = 5;
const DELAY_MS_MAX = 250;

/** Names for the error message. */
export type LogUse = Readonly<{
  /** The version of this program. */
  version: string;
  /** The location of the log, for example `the data directory /data`. */
  place: string;
  /** The instruction by which an operator gives this program another log. */
  advice: string;
}>;

type Parts = Readonly<{ store: EventStore; timing: Timing; clock: Clock; ids: Ids }>;

/** The log was written by a version whose events this program cannot read. Waiting does not help. */
export class UnreadableLog extends Error {
  override readonly name = 'UnreadableLog';
  constructor({ version, place, advice }: LogUse, writtenBy: string | undefined) {
    const writer =
      writtenBy === undefined
        ? `a version before ${FIRST_DECLARING_VERSION}, or its first event was changed or removed`
        : `version ${writtenBy}`;
    const other = writtenBy === undefined ? 'the older version' : `version ${writtenBy}`;
    super(
      `The log in ${place} was written by ${writer}, and version ${version} cannot read it: ${advice}, or start ${other} again.`,
    );
  }
}

/**
 * Ensures that the log starts with the declaration of this program's format, and appends the declaration to an empty log. Runs
 * before the log is followed or appended to. It reads the first event; if there is none, it appends the declaration to a stream
 * that must not exist; then it reads until a first event shows. Only what it reads decides: of two processes that append at the
 * same time, the loser reads the winner's declaration, and on a lagging node an older log's first event appears eventually.
 * @throws UnreadableLog, StoreUnavailable
 */
export async function requireLogFormat(parts: Parts, use: LogUse): Promise<void> {
  const first = (await firstOfLog(parts.store)) ?? (await declared(parts, use.version));
  const declaration = declarationIn(first);
  if (declaration?.format !== LOG_FORMAT) throw new UnreadableLog(use, declaration?.version);
}

async function declared(parts: Parts, version: string): Promise<StoredEvent> {
  const { store, timing } = parts;
  await declare(parts, version);
  const givingUpAt = timing.elapsedMs() + VISIBLE_MS_MAX;
  for (let delayMs = DELAY_MS_MIN; ; delayMs = Math.min(2 * delayMs, DELAY_MS_MAX)) {
    const first = await firstOfLog(store);
    if (first) return first;
    if (timing.elapsedMs() >= givingUpAt) throw new StoreUnavailable('The declaration of the log’s format cannot be read yet.');
    await timing.pause(delayMs);
  }
}

/** Appends the declaration. The fixed id makes a repetition idempotent, and losing to another process counts as success. */
async function declare({ store, timing, clock, ids }: Parts, version: string): Promise<void> {
  const data = { format: LOG_FORMAT, version, declaredAt: clock.now().toISOString() };
  const declaration: LogFormatDeclared = { type: 'LogFormatDeclared', data };
  const id = ids.next();
  const cause = { actor: 'system:log-format', credential: 'system', correlationId: id, causationId: id } as const;
  try {
    await new Streams(store, timing).append(LOG_FORMAT_STREAM, 'none', logCodec, [declaration], cause);
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error;
  }
}

async function firstOfLog(store: EventStore): Promise<StoredEvent | undefined> {
  for await (const { events } of store.readAll({ after: LOG_START, limit: 1 })) if (events.length > 0) return events[0];
  return undefined;
}

/** The declaration in the first event; undefined if that is another event. @throws Undecodable */
function declarationIn(first: StoredEvent): LogFormatDeclared['data'] | undefined {
  return first.stream === LOG_FORMAT_STREAM ? decode<LogFormatDeclared>(logCodec, first)?.data : undefined;
}
