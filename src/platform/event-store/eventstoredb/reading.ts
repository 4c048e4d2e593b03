import { setMaxListeners } from 'node:events';

import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { BACK_OFF_MAX_MS, backOffMs } from '../../supervision/back-off.js';
import { systemTiming } from '../../system-timing.js';
import type { Answer } from './answer.js';
import type { Connection } from './connection.js';
import { meaningOf } from './errors.js';
import { Inbox, Silence } from './inbox.js';
import { READ_ATTEMPTS_MAX } from './limits.js';
import type { ReadRequest } from './stubs.js';
import { withTimeout } from './with-timeout.js';

/** What is read, and how far: a request for what is left, and what to make of the answers. */
export type Cursor<Page> = Readonly<{
  /** Nothing is left to ask for. */
  done?: boolean;
  /** Asks for what comes after what was taken; may ask the server something itself first. */
  request(): ReadRequest | Promise<ReadRequest>;
  /** Moves on over the answers; a page when there is something to tell. */
  take(answers: readonly Answer[]): Page | undefined;
}>;

/** How long to wait for the first answer, and for each further one. */
export type Patience = Readonly<{ answerMs: number; silenceMs: number }>;

/**
 * Reads to the end. Where the connection breaks it goes on with what is left, unless there was no answer for so long.
 * @throws StoreUnavailable, StreamGone
 */
export async function* readToEnd<Page>(
  connection: Connection,
  cursor: Cursor<Page>,
  answerMs: number,
): AsyncGenerator<Page, void> {
  let answeredAt = performance.now();
  for (let attempt = 1; !cursor.done; attempt++) {
    let inbox: Inbox | undefined;
    try {
      inbox = await open(connection, cursor, answerMs);
      for (let answers; (answers = await inbox.take(answerMs));) {
        const page = cursor.take(answers);
        attempt = 1;
        if (page !== undefined) yield page;
        // The time that the consumer took is none of the server's.
        answeredAt = performance.now();
      }
      return;
    } catch (error) {
      if (error instanceof Silence) inbox?.giveUp();
      if (!(error instanceof StoreUnavailable)) throw error;
      const pauseMs = backOffMs(attempt, systemTiming);
      const isLast = error instanceof Silence || attempt === READ_ATTEMPTS_MAX;
      if (isLast || performance.now() + pauseMs > answeredAt + answerMs) throw await connection.explained(error);
      await systemTiming.pause(pauseMs);
    } finally {
      inbox?.leave();
    }
  }
}

/**
 * Subscribes, and subscribes again from where it is whenever the subscription ends, breaks or falls silent, until the
 * signal aborts. @throws StreamGone, StoreRefused, LogEndsEarlier
 */
export async function* follow<Page>(
  connection: Connection,
  cursor: Cursor<Page>,
  { answerMs, silenceMs }: Patience,
  signal: AbortSignal,
): AsyncGenerator<Page, void> {
  // One signal may end every follower of a process; that is no leak.
  setMaxListeners(0, signal);
  for (let failures = 0; !signal.aborted; failures++) {
    // A slow consumer is dropped by design and resumes at once; only what fails again without progress waits.
    if (failures > 1) await systemTiming.pause(backOffMs(failures - 1, systemTiming), signal);
    const started = Date.now();
    let inbox: Inbox | undefined;
    let answered = false;
    try {
      inbox = await open(connection, cursor, answerMs, signal);
      for (let answers; (answers = await inbox.take(answered ? silenceMs : answerMs, signal)); answered = true) {
        const page = cursor.take(answers);
        if (answers.some(({ kind }) => kind === 'event')) failures = 0;
        if (page !== undefined) yield page;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (error instanceof Silence && !answered) inbox?.giveUp();
    } finally {
      inbox?.leave();
    }
    if (Date.now() - started > BACK_OFF_MAX_MS) failures = 0;
  }
}

async function open(connection: Connection, cursor: Cursor<unknown>, withinMs: number, signal?: AbortSignal): Promise<Inbox> {
  const opening = Promise.resolve(cursor.request()).then((request) => connection.read(request));
  try {
    return new Inbox(
      await withTimeout(withinMs, opening, () => new Silence(`EventStoreDB took no read within ${withinMs} ms.`), signal),
    );
  } catch (error) {
    opening.then(({ call }) => call.cancel()).catch(() => undefined);
    throw meaningOf(error);
  }
}
