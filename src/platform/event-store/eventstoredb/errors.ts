import { AccessDeniedError, convertToCommandError, StreamDeletedError } from '@eventstore/db-client';

import { StoreUnavailable, StreamGone } from '../../../kernel/event-store.js';

/** gRPC codes of refusals that stay refusals however often one asks. */
const FINAL_CODES: ReadonlySet<unknown> = new Set([
  3 /* INVALID_ARGUMENT */, 7 /* PERMISSION_DENIED */, 12 /* UNIMPLEMENTED */, 16 /* UNAUTHENTICATED */,
]);

/** Asking again will not help: wrong credentials, no rights, a server that is too old, a store that was closed. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** What an error of a call means. Errors come as the client's, as gRPC's, and as plain ones when no server was found. */
export function meaningOf(error: unknown, stream = ''): StreamGone | StoreRefused | StoreUnavailable {
  if (error instanceof StreamGone || error instanceof StoreRefused || error instanceof StoreUnavailable) return error;
  const known = recognised(error);
  if (known instanceof StreamDeletedError) return new StreamGone(known.streamName ?? stream);
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (known instanceof AccessDeniedError || FINAL_CODES.has(code)) {
    return new StoreRefused(`EventStoreDB refuses: ${String(message)}`, { cause: error });
  }
  return new StoreUnavailable(`EventStoreDB is not available: ${String(message)}`, { cause: error });
}

/** The client's name for an error; it throws over trailers that it misses. */
function recognised(error: unknown): unknown {
  try {
    return error instanceof Error ? convertToCommandError(error) : error;
  } catch {
    return error;
  }
}
