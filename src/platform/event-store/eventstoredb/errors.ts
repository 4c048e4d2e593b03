import { AccessDeniedError, convertToCommandError, NotLeaderError, StreamDeletedError } from '@eventstore/db-client';

import { LogDiffers, LogEndsEarlier, StoreUnavailable, StreamGone } from '../../../kernel/event-sourcing/event-store.js';

const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** Further gRPC codes of refusals that a retry cannot change. */
const FINAL_CODES: ReadonlySet<unknown> = new Set([3 /* INVALID_ARGUMENT */, 12 /* UNIMPLEMENTED */]);

const WRONG_CREDENTIALS = 'EventStoreDB does not know the user of the connection string, or not with that password.';
const NO_RIGHTS =
  'EventStoreDB denies access: the connection string must have the user and the password of one of its administrators (group $admins).';

/** A retry will not help: wrong credentials, missing rights, an old server, a closed store. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

const OURS = [StreamGone, StoreRefused, StoreUnavailable, LogEndsEarlier];

/** How a read and a subscription are refused at a position between two events. */
const BETWEEN_EVENTS = /InvalidPosition|invalid position/;

/** Maps an error of a call. Errors are the client's, gRPC's, or plain ones if no server was found. */
export function meaningOf(error: unknown, stream = ''): StreamGone | StoreRefused | StoreUnavailable | LogEndsEarlier {
  if (OURS.some((kind) => error instanceof kind)) return error as InstanceType<(typeof OURS)[number]>;
  const known = recognised(error);
  if (known instanceof StreamDeletedError) return new StreamGone(known.streamName ?? stream);
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === UNAUTHENTICATED) return new StoreRefused(WRONG_CREDENTIALS, { cause: error });
  if (known instanceof AccessDeniedError || code === PERMISSION_DENIED) return new StoreRefused(NO_RIGHTS, { cause: error });
  if (BETWEEN_EVENTS.test(String(message))) return new LogDiffers();
  if (FINAL_CODES.has(code)) return new StoreRefused(`EventStoreDB refuses: ${String(message)}`, { cause: error });
  return new StoreUnavailable(`EventStoreDB is not available: ${reasonOf(error, known)}`, { cause: error });
}

function reasonOf(error: unknown, known: unknown): string {
  if (isNoLeaderFound(error)) return 'no leader is found.';
  if (known instanceof NotLeaderError) return 'the node that was asked is not the leader.';
  return String((error as { message?: unknown }).message);
}

/** Whether the client found no leader, which it reports without a code. */
export const isNoLeaderFound = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Failed to discover');

/** The client's own error for a gRPC error. The conversion throws if trailers are missing. */
function recognised(error: unknown): unknown {
  try {
    return error instanceof Error ? convertToCommandError(error) : error;
  } catch {
    return error;
  }
}
