import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** The response to a client that is connected, and the client's leaving. */
export function connectedResponse() {
  const socket = new Socket();
  const raw = new ServerResponse(new IncomingMessage(socket));
  raw.assignSocket(socket);
  const leave = async () => {
    const closing = once(raw, 'close');
    socket.destroy();
    await closing;
  };
  return { raw, leave };
}
