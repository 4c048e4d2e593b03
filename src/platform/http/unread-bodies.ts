import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** So much of what a client sends on after its answer is let in and thrown away, and for so long; then its connection ends. */
export const UNREAD_BYTES_MAX = 1024 * 1024;
const UNREAD_MS_MAX = 2_000;

/**
 * Requests may be answered before their bodies have come in: a refusal does not wait for what it refuses. A connection that ended
 * at once would be reset while its client still sends, which loses many clients the answer; one that took everything would let
 * a refused client send without end. One that takes nothing more makes it stop and read.
 */
export function endUnreadBodies(fastify: FastifyInstance, isClosing: () => boolean): void {
  fastify.server.on('request', (request: IncomingMessage, response) => {
    response.once('finish', () => {
      if (!request.complete) discardRest(request);
    });
  });
  // Fastify would have the connection closed with the answer.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (!request.raw.complete && !isClosing()) void reply.removeHeader('connection');
    done(null, payload);
  });
}

function discardRest(request: IncomingMessage): void {
  const deadline = setTimeout(() => request.socket.destroy(), UNREAD_MS_MAX).unref();
  let size = 0;
  request.once('close', () => clearTimeout(deadline));
  request.unpipe();
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > UNREAD_BYTES_MAX) request.pause();
  });
  request.resume();
}
