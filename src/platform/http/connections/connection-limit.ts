import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Descriptors for files, pipes of child processes, the event store and NATS. Database connections are counted separately. */
const RESERVED_DESCRIPTORS = 128;
export const CONNECTIONS_MIN = 8;

export type ConnectionWishes = Readonly<{ connectionsMax: number | undefined; databasePoolMax: number }>;

/**
 * The maximum number of client connections: by default half of the free descriptors, because an answer also needs a connection to
 * a model. A configured value may be as large as all free descriptors.
 */
export function connectionsWithin(descriptors: number, { connectionsMax, databasePoolMax }: ConnectionWishes): number {
  const free = descriptors - RESERVED_DESCRIPTORS - databasePoolMax;
  return Math.max(CONNECTIONS_MIN, Math.min(connectionsMax ?? Math.floor(free / 2), free));
}

/**
 * Limits the connections of a server. At the limit, a new client replaces the client that has been without a request for the
 * longest time; if all are being answered, the new one is refused. So idle clients cannot block others.
 */
export function limitConnections(server: Server, max: number): void {
  /** Sockets without a request in progress, longest idle first. */
  const silent = new Set<Socket>();
  const answering = new Map<Socket, number>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => {
      silent.delete(socket);
      answering.delete(socket);
    });
    if (silent.size + answering.size <= max) return;
    const [longest] = silent;
    silent.delete(longest!);
    longest!.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    silent.delete(socket);
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (answering.get(socket) ?? 0) - 1;
      if (left > 0) answering.set(socket, left);
      else if (answering.delete(socket) && !socket.destroyed) silent.add(socket);
    });
  });
}
