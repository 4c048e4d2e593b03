import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes the responses of a connection that closes while they wait for the response to an earlier request. Node 20 closes only the
 * response that is being sent. What waits for the `close` event of the others would stay until the process ends.
 */
export function closeQueuedResponses(server: Server): void {
  const queues = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // A response gets the socket of its connection when it is its turn.
    if (response.socket) return;
    const queue = queues.get(socket) ?? queueOf(socket);
    queues.set(socket, queue.add(response));
    response.once('socket', () => queue.delete(response));
  });
}

function queueOf(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  socket.once('close', () => {
    for (const response of queue) {
      // Node 24 has closed it.
      if (response.destroyed) continue;
      // As Node does it for the response that has the socket.
      response.destroyed = true;
      response.emit('close');
    }
    queue.clear();
  });
  return queue;
}
