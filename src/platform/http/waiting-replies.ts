import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Rejection, shuttingDown } from '../../kernel/rejection.js';

/** The replies of this process that wait for an answer. During a shutdown they stop waiting before the process has to end. */
@Injectable()
export class WaitingReplies {
  private readonly waiting = new Set<AbortController>();
  private isOver = false;

  /** Aborts when the client has left or the reply must not wait any longer. */
  signalOf({ raw }: Readonly<{ raw: Pick<ServerResponse, 'once'> }>): AbortSignal {
    const controller = new AbortController();
    const leave = () => {
      this.waiting.delete(controller);
      controller.abort('gone');
    };
    if (this.isOver) leave();
    else this.waiting.add(controller);
    raw.once('close', leave);
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
