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

const scopes = new AsyncLocalStorage<CallScope>();

export const inScope = <T>(scope: CallScope, work: () => Promise<T>): Promise<T> => scopes.run(scope, work);

export const currentScope = (): CallScope | undefined => scopes.getStore();
