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

const scopes = new AsyncLocalStorage<CallScope>();
let openCount = 0;
let ending: NodeJS.Timeout | undefined;

/**
 * Runs the work, whose requests then have the scope. In Node 20 every promise of the process costs more while the storage is in
 * use, a tenth of the processor time of an answer, so it is switched off between calls.
 */
export async function inScope<T>(scope: CallScope, work: () => Promise<T>): Promise<T> {
  openCount++;
  clearTimeout(ending);
  try {
    return await scopes.run(scope, work);
  } finally {
    if (--openCount === 0) ending = setTimeout(() => scopes.disable(), SCOPES_KEPT_MS).unref();
  }
}

export const currentScope = (): CallScope | undefined => scopes.getStore();
