import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** How many bytes, and for how long, a client may continue to send after its response. They are discarded. */
export const UNREAD_BYTES_MAX = 1024 * 1024;
const UNREAD_MS_MAX = 2_000;

/**
 * A refusal is sent before the request body has arrived. Closing the connection at once would reset it while the client still
 * sends, and many clients would lose the response. Reading everything would let a refused client send without end. So a bounded
 * part is discarded and then reading stops, which makes the client stop and read the response.
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
      // Before the response, because Node reads the whole rest of a body that has no reader afterwards.
      discardRest(request.raw);
      if (!isClosing()) keepOpen(request.raw, reply);
    }
    done(null, payload);
  });
}

/** Keeps the connection open, which Fastify would close after the response. */
function keepOpen(request: IncomingMessage, reply: FastifyReply): void {
  void reply.removeHeader('connection');
  if (mayBeTruncated(request)) askToClose(reply.raw);
}

const mayBeTruncated = ({ headers }: IncomingMessage): boolean => !(Number(headers['content-length']) <= UNREAD_BYTES_MAX);

/**
 * Sends `Connection: close`, so that the client sends no further request on a connection that may be cut off. Node does not close
 * the connection at once, because these fields are the ones it uses for the last allowed request of a connection. The second one
 * makes Node forget that the header was removed before.
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
