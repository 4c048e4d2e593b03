import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const SWEEPS_PER_BOUND = 4;

/** Node's internal handle with the number of bytes that the system has not accepted yet. */
type Written = Readonly<{ _handle?: Readonly<{ writeQueueSize: number }> | null; destroyed: boolean }>;

/** The number of unsent bytes. Node's own count includes a record until its last byte is sent. */
export function unsentBytesOf({ writableLength, socket }: ServerResponse): number {
  const written: Written | null = socket;
  return writableLength + (written?._handle?.writeQueueSize ?? 0);
}

type Progress = Readonly<{ written: number; unsent: number; since: number }>;

/** Ends connections whose client has not accepted a waiting byte of its response for `stallMs` milliseconds. */
export function endStalledResponses(server: Server, stallMs: number): void {
  const open = new Map<ServerResponse, Progress>();
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [response, progress] of open) {
      const written = response.socket?.bytesWritten ?? 0;
      const unsent = unsentBytesOf(response);
      if (unsent === 0 && written === progress.written) continue;
      const isStalled = unsent > 0 && unsent >= progress.unsent && written === progress.written;
      if (!isStalled) open.set(response, { written, unsent, since: now });
      else if (now - progress.since >= stallMs) response.socket?.destroy();
    }
  }, stallMs / SWEEPS_PER_BOUND).unref();
  server.on('request', (_: IncomingMessage, response: ServerResponse) => {
    open.set(response, { written: 0, unsent: 0, since: performance.now() });
    response.once('close', () => open.delete(response));
  });
  server.once('close', () => clearInterval(sweep));
}
