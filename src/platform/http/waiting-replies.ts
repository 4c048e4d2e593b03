import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Rejection, shuttingDown } from '../../kernel/rejection.js';

/** The replies of this process that wait for an answer. During a shutdown they stop waiting before the process has to end. */
@Injectable()
export class WaitingReplies {
  private readonly waiting = new Set<AbortController>();
  private isOver = false;

  /** The number of replies that wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** Aborts when the client has left or the reply must not wait any longer. */
  signalOf({ raw }: Readonly<{ raw: Pick<ServerResponse, 'once' | 'destroyed'> }>): AbortSignal {
    const controller = new AbortController();
    const leave = () => {
      this.waiting.delete(controller);
      controller.abort('gone');
    };
    // The client may have left while its request was being accepted. Such a response has no further `close` event.
    if (this.isOver || raw.destroyed) {
      leave();
    } else {
      this.waiting.add(controller);
      raw.once('close', leave);
    }
    return controller.signal;
  }

  /** Why an answer did not reach its end. */
  brokenOff(): Rejection {
    return this.isOver ? shuttingDown() : new Rejection('answer-failed', 'The answer broke off.');
  }

  /** Ends all waiting. */
  close(): void {
    this.isOver = true;
    for (const controller of this.waiting) controller.abort('gone');
    this.waiting.clear();
  }
}
