import { randomUUID } from 'node:crypto';

import {
  APPEND_BYTES_MAX,
  appendBytes,
  AppendTooLarge,
  type ExpectedRevision,
  type NewEvent,
  StoreUnavailable,
} from '../../../kernel/event-sourcing/event-store.js';
import { isId } from '../../../kernel/ids.js';
import { AppendCall } from './append-call.js';
import { appended, appendRequests, type Taken } from './append-messages.js';
import type { Connection } from './connection.js';
import type { BatchRequest, BatchResponse } from './stubs.js';
import { withTimeout } from './with-timeout.js';

/** Sends appends over one shared call, and opens a new call when the call breaks. */
export class Appends {
  private current: AppendCall | undefined;
  private opening: Promise<AppendCall> | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly deadlineMs: number,
  ) {}

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Taken> {
    check(stream, expected, events);
    const correlation = randomUUID();
    const requests = appendRequests(correlation, stream, expected, events);
    return appended(await this.send(correlation, requests), stream, expected, events);
  }

  private async send(correlation: string, requests: readonly BatchRequest[]): Promise<BatchResponse> {
    try {
      const call = this.current?.usable ? this.current : await withTimeout(this.deadlineMs, this.open(), late);
      return await call.send(correlation, requests, this.deadlineMs);
    } catch (error) {
      throw await this.connection.explained(error);
    }
  }

  close(): void {
    this.current?.retire();
  }

  private open(): Promise<AppendCall> {
    this.opening ??= this.connection
      .batchAppend()
      .then((opened) => (this.current = new AppendCall(opened)))
      .finally(() => (this.opening = undefined));
    return this.opening;
  }
}

const late = () => new StoreUnavailable('EventStoreDB took no append call in time.');

/** Refuses an append that would break the call, because other appends share it. */
function check(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): void {
  if (stream === '') throw new RangeError('A stream has a name.');
  if (events.length === 0) throw new RangeError('An append needs at least one event.');
  if (expected !== 'none' && !(Number.isSafeInteger(expected) && expected >= 0))
    throw new RangeError(`${expected} is not a revision.`);
  const unidentified = events.find(({ id }) => !isId(id));
  if (unidentified) throw new RangeError(`${unidentified.id} is not an event id.`);
  const bytes = appendBytes(events);
  if (bytes > APPEND_BYTES_MAX) throw new AppendTooLarge(stream, bytes);
}
