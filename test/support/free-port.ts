import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral range, so the operating system does not assign the port while its program is down for a moment. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/**
 * A TCP port of this machine on which no process listens, for a program that must be given one. No other test process gets
 * the port while this one runs, so a program that is down for a moment finds it free again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** Takes the UDP port with the same number, which no program needs, until this process ends. False when another process has it. */
async function reserve(port: number): Promise<boolean> {
  const mark = createSocket('udp4').unref();
  try {
    mark.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(mark, 'listening');
    return true;
  } catch {
    mark.close();
    return false;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
