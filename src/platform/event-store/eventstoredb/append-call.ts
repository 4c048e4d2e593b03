import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { isTimeout } from './append-messages.js';
import type { Opened } from './connection.js';
import { meaningOf } from './errors.js';
import type { BatchCall, BatchRequest, BatchResponse } from './stubs.js';

type Waiting = Readonly<{ resolve: (response: BatchResponse) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }>;

/** A BatchAppend call that many appends share. Each append has its own answer and its own deadline. */
export class AppendCall {
  private readonly waiting = new Map<string, Waiting>();
  private open = true;

  constructor(private readonly opened: Opened<BatchCall>) {
    const { call } = opened;
    call.on('data', (response: BatchResponse) => this.answer(response));
    call.on('error', (error) => this.fail(meaningOf(error)));
    call.on('end', () => this.fail(new StoreUnavailable('EventStoreDB ended the append call.')));
  }

  /** Whether further appends may use this call. */
  get usable(): boolean {
    return this.open;
  }

  /** @throws StoreUnavailable if no answer arrives in time or the call breaks; the outcome of the append is unknown */
  send(correlation: string, requests: readonly BatchRequest[], deadlineMs: number): Promise<BatchResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.expire(correlation, deadlineMs), deadlineMs);
      this.waiting.set(correlation, { resolve, reject, timer });
      try {
        for (const request of requests) this.opened.call.write(request);
      } catch (error) {
        this.finish(correlation, () => reject(meaningOf(error)));
      }
    });
  }

  /** Accepts no further appends. Appends in progress may still be answered. */
  retire(): void {
    this.open = false;
    if (this.waiting.size === 0) this.opened.call.cancel();
  }

  /**
   * A server that cannot complete an append in time may be a leader that was replaced while it was frozen and does not know that
   * yet. So the next append uses a new connection, for which the leader is asked for again.
   */
  private answer(response: BatchResponse): void {
    const isLate = isTimeout(response);
    if (isLate) this.open = false;
    this.finish(response.getCorrelationId()?.getString() ?? '', ({ resolve }) => resolve(response));
    if (isLate) this.opened.giveUp();
  }

  /** A server that leaves an append unanswered may hang, so the next append uses a new connection. */
  private expire(correlation: string, deadlineMs: number): void {
    this.open = false;
    this.finish(correlation, ({ reject }) =>
      reject(new StoreUnavailable(`EventStoreDB did not answer an append within ${deadlineMs} ms.`)),
    );
    this.opened.giveUp();
  }

  private fail(error: Error): void {
    this.open = false;
    for (const correlation of [...this.waiting.keys()]) this.finish(correlation, ({ reject }) => reject(error));
  }

  private finish(correlation: string, how: (waiting: Waiting) => void): void {
    const waiting = this.waiting.get(correlation);
    if (!waiting) return;
    this.waiting.delete(correlation);
    clearTimeout(waiting.timer);
    how(waiting);
    if (!this.open && this.waiting.size === 0) this.opened.call.cancel();
  }
}
