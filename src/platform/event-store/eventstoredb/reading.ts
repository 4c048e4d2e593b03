import { setMaxListeners } from 'node:events';

import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { BACK_OFF_MAX_MS, backOffMs } from '../../supervision/back-off.js';
import { systemTiming } from '../../system-timing.js';
import type { Answer } from './answer.js';
import type { Connection } from './connection.js';
import { meaningOf } from './errors.js';
import { Inbox, Silence } from './inbox.js';
import { READ_RETRY_MS_MAX, SCAN_PINGS_MAX } from './limits.js';
import type { ReadRequest } from './stubs.js';
import { withTimeout } from './with-timeout.js';

/** The progress of a read: it builds the request for the remaining part and turns answers into pages. */
export type Cursor<Page> = Readonly<{
  /** True when nothing remains to request. */
  done?: boolean;
  /** The request for what follows the answers taken so far. It may query the server first. */
  request(): ReadRequest | Promise<ReadRequest>;
  /** Advances over the answers. Returns a page if they contain something to report. */
  take(answers: readonly Answer[]): Page | undefined;
  /** Asks the server for something else. Only for reads of the log, in which the server may scan for long without a match. */
  ping?(): Promise<unknown>;
}>;

/** Timeouts of the first answer and of each further one, in milliseconds. */
export type Patience = Readonly<{ answerMs: number; silenceMs: number }>;

/**
 * Reads to the end. While the server is unavailable it retries the remaining part, until `retryMs` have passed since the last
 * answer.
 * @throws StoreUnavailable, StreamGone
 */
export async function* readToEnd<Page>(
  connection: Connection,
  cursor: Cursor<Page>,
  answerMs: number,
  retryMs = answerMs,
): AsyncGenerator<Page, void> {
  let answeredAt = performance.now();
  for (let attempt = 1; !cursor.done; attempt++) {
    let inbox: Inbox | undefined;
    try {
      inbox = await open(connection, cursor, answerMs);
      for (let answers; (answers = await taken(inbox, cursor, answerMs));) {
        const page = cursor.take(answers);
        attempt = 1;
        if (page !== undefined) yield page;
        // The time that the consumer takes for a page does not count towards the server's timeout.
        answeredAt = performance.now();
      }
      return;
    } catch (error) {
      if (error instanceof Silence) inbox?.giveUp();
      if (!(error instanceof StoreUnavailable)) throw error;
      const leftMs = answeredAt + retryMs - performance.now();
      if (error instanceof Silence || leftMs <= 0) throw await connection.explained(error);
      await systemTiming.pause(Math.min(backOffMs(attempt, systemTiming), READ_RETRY_MS_MAX, leftMs));
    } finally {
      inbox?.leave();
    }
  }
}

/** As `Inbox.take`. During a scan of the log, silence counts only if the server does not answer another request either. */
async function taken(inbox: Inbox, cursor: Cursor<unknown>, answerMs: number): Promise<readonly Answer[] | undefined> {
  for (let pings = 0; ; pings++) {
    try {
      return await inbox.take(answerMs);
    } catch (error) {
      if (!(error instanceof Silence) || !cursor.ping || pings === SCAN_PINGS_MAX) throw error;
      await cursor.ping();
    }
  }
}

/**
 * Subscribes until the signal aborts. Whenever the subscription ends, breaks or is silent, it subscribes again from its current
 * place. @throws StoreRefused, LogEndsEarlier
 */
export async function* follow<Page>(
  connection: Connection,
  cursor: Cursor<Page>,
  { answerMs, silenceMs }: Patience,
  signal: AbortSignal,
): AsyncGenerator<Page, void> {
  // One signal may end all followers of a process. The number of its listeners is not a leak.
  setMaxListeners(0, signal);
  for (let failures = 0; !signal.aborted; failures++) {
    // The server drops slow consumers by design, so the first failure resumes at once. Repeated failures without progress wait.
    if (failures > 1) await systemTiming.pause(backOffMs(failures - 1, systemTiming), signal);
    if (signal.aborted) return;
    const started = performance.now();
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
    if (performance.now() - started > BACK_OFF_MAX_MS) failures = 0;
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
