import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of this machine that nobody listens on just now, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
