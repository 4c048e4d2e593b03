import { Injectable } from '@nestjs/common';
import { Rejection, shuttingDown } from '../../kernel/rejection.js';
import { whenGone } from './connections/client-gone.js';

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
  signalOf(reply: Parameters<typeof whenGone>[0]): AbortSignal {
    const controller = new AbortController();
    const leave = () => {
      this.waiting.delete(controller);
      controller.abort('gone');
    };
    this.waiting.add(controller);
    if (this.isOver) leave();
    else whenGone(reply, leave);
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
