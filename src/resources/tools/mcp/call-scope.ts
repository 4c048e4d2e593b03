import { AsyncLocalStorage } from 'node:async_hooks';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/**
 * The data of one piece of work that its HTTP requests need. They are passed in an AsyncLocalStorage, because sessions are
 * shared.
 */
export type CallScope = Readonly<{
  cause: Cause;
  /** Gets each token that is sent for the work. */
  sends: ((token: string) => void) | undefined;
  /** Ends the work at once, because the awaited response cannot arrive. */
  giveUp: (reason: Error) => void;
  /** Whether the server sent an id with which a broken response can be resumed. */
  isResumable: () => boolean;
}>;

/** How long a scope is known after the last work has ended, for requests that a client sends afterwards. */
export const SCOPES_KEPT_MS = 10_000;

/**
 * The scopes of all work that runs. In Node 20 every promise of the process costs more while the storage is in use, a tenth of the
 * processor time of an answer, so it is switched off between calls.
 */
export class CallScopes {
  private openCount = 0;
  private ending: NodeJS.Timeout | undefined;

  constructor(private readonly storage: AsyncLocalStorage<CallScope>) {}

  /** Runs the work, whose requests then have the scope. */
  async run<T>(scope: CallScope, work: () => Promise<T>): Promise<T> {
    this.openCount++;
    clearTimeout(this.ending);
    try {
      return await this.storage.run(scope, work);
    } finally {
      if (--this.openCount === 0) this.ending = setTimeout(() => this.storage.disable(), SCOPES_KEPT_MS).unref();
    }
  }

  current(): CallScope | undefined {
    return this.storage.getStore();
  }
}

export const callScopes = new CallScopes(new AsyncLocalStorage());
