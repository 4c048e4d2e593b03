import type { ServerResponse } from 'node:http';

/**
 * Aborts when the client leaves. It may have left already, while its request was being accepted: then its response has no further
 * `close` event.
 */
export function clientGone({ raw }: Readonly<{ raw: Pick<ServerResponse, 'once' | 'destroyed'> }>): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort();
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}
