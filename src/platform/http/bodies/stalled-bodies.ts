import type { IncomingMessage, Server } from 'node:http';

const SWEEPS_PER_BOUND = 4;

/** Whether a request has a body. Node reports the end of a request without a body only later. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Ends connections whose request body has not progressed for `stallMs` milliseconds. */
export function endStalledBodies(server: Server, stallMs: number): void {
  const arriving = new Map<IncomingMessage, { bytes: number; since: number }>();
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [request, progress] of arriving) {
      const { bytesRead } = request.socket;
      if (request.complete) arriving.delete(request);
      else if (bytesRead > progress.bytes) arriving.set(request, { bytes: bytesRead, since: now });
      else if (now - progress.since >= stallMs) request.socket.destroy();
    }
  }, stallMs / SWEEPS_PER_BOUND).unref();
  server.on('request', (request: IncomingMessage) => {
    if (request.complete || !hasBody(request)) return;
    arriving.set(request, { bytes: request.socket.bytesRead, since: performance.now() });
    // At once, because until the next sweep the memory of all requests since the last one adds up.
    request.once('close', () => arriving.delete(request));
  });
  server.once('close', () => clearInterval(sweep));
}
