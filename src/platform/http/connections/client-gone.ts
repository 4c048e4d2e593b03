import type { ServerResponse } from 'node:http';

type Replied = Readonly<{ raw: Pick<ServerResponse, 'once' | 'destroyed'> }>;

/**
 * Calls back when the client leaves. It may have left already, while its request was being accepted: then its response has no
 * further `close` event, and the call is made at once.
 */
export function whenGone({ raw }: Replied, leave: () => void): void {
  if (raw.destroyed) leave();
  else raw.once('close', leave);
}

/** Aborts when the client leaves. */
export function clientGone(reply: Replied): AbortSignal {
  const gone = new AbortController();
  whenGone(reply, () => gone.abort());
  return gone.signal;
}
