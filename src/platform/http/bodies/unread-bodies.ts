import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';

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
      if (request.complete) return;
      discardRest(request);
      const deadline = setTimeout(() => request.socket.destroy(), UNREAD_MS_MAX).unref();
      request.once('close', () => clearTimeout(deadline));
    });
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (!request.raw.complete) {
      // Before the answer: of a body that has no reader once it is sent, Node takes everything.
      discardRest(request.raw);
      if (!isClosing()) keepOpen(request.raw, reply);
    }
    done(null, payload);
  });
}

/** Fastify would have the connection closed with the answer. */
function keepOpen(request: IncomingMessage, reply: FastifyReply): void {
  void reply.removeHeader('connection');
  if (mayBeTruncated(request)) askToClose(reply.raw);
}

const mayBeTruncated = ({ headers }: IncomingMessage): boolean => !(Number(headers['content-length']) <= UNREAD_BYTES_MAX);

/**
 * Has the answer say `Connection: close`, so that its client sends nothing more on a connection that may be cut off, without Node
 * closing it right after: this is how Node says it on the last request that a connection is allowed. That the header was removed
 * before must not be known any more.
 */
function askToClose(response: ServerResponse): void {
  Object.assign(response, { maxRequestsOnConnectionReached: true, _removedConnection: false });
}

const discarded = new WeakSet<IncomingMessage>();

function discardRest(request: IncomingMessage): void {
  if (discarded.has(request)) return;
  discarded.add(request);
  let size = 0;
  request.unpipe();
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > UNREAD_BYTES_MAX) request.pause();
  });
  request.resume();
}
