import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Ends each of two sockets with the other. `open` holds them until then. */
export function tie(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => other.destroy());
    socket.once('close', () => {
      open.delete(socket);
      other.destroy();
    });
  }
}

/** A proxy to a server. A test can break its connections, or cut it until it is mended. */
export class SeverableProxy {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private readonly server = createServer((near) => {
    if (this.isCut) return void near.destroy();
    const far = connect(this.port, '127.0.0.1');
    tie(near, far, this.sockets);
    near.pipe(far).pipe(near);
  });

  private constructor(private readonly port: number) {}

  static async to(url: string): Promise<SeverableProxy> {
    const proxy = new SeverableProxy(Number(new URL(url).port));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resets the open connections. New ones are accepted. */
  breakConnections(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Resets the open connections and refuses new ones until it is mended. */
  cut(): void {
    this.isCut = true;
    this.breakConnections();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.breakConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
