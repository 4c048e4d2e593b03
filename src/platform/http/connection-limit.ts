import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Files, pipes to programs that are started, connections to event store and NATS; database connections come on top. */
const RESERVED_DESCRIPTORS = 128;
export const CONNECTIONS_MIN = 8;

export type ConnectionWishes = Readonly<{ connectionsMax: number | undefined; databasePoolMax: number }>;

/**
 * How many clients may be connected: half of what the process can have open beside its own needs, since an answer takes a
 * connection to a model as well. A wish goes up to all of it.
 */
export function connectionsWithin(descriptors: number, { connectionsMax, databasePoolMax }: ConnectionWishes): number {
  const free = descriptors - RESERVED_DESCRIPTORS - databasePoolMax;
  return Math.max(CONNECTIONS_MIN, Math.min(connectionsMax ?? Math.floor(free / 2), free));
}

/**
 * Keeps the connections to a server below a limit. A client beyond it takes the place of the client that has been silent for
 * longest, before its first request or since its last; where all are being answered, it is turned away. So clients that connect
 * and say nothing shut no one out.
 */
export function limitConnections(server: Server, max: number): void {
  /** The longest silent first. */
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
