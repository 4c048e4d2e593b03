import { AsyncLocalStorage } from 'node:async_hooks';
import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** What a request on the wire needs to know of the work it is a part of: sessions are shared, these are not. */
export type CallScope = Readonly<{
  cause: Cause;
  /** Ends the work at once: what it waits for will not come. */
  giveUp: (reason: Error) => void;
  /** Whether the server said how an answer that broke off goes on. */
  isResumable: () => boolean;
}>;

const scopes = new AsyncLocalStorage<CallScope>();

export const inScope = <T>(scope: CallScope, work: () => Promise<T>): Promise<T> => scopes.run(scope, work);

export const currentScope = (): CallScope | undefined => scopes.getStore();
