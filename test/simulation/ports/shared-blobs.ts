import type { Readable } from 'node:stream';
import { Blobs } from '../../../src/kernel/blobs.js';
import { InMemoryBlobs } from '../../support/in-memory-blobs.js';
import type { Actor } from '../kernel/actor.js';
import type { Network } from './network.js';

/** The blob store that all processes share. */
export class SharedBlobs {
  private readonly server = new InMemoryBlobs();

  constructor(private readonly network: Network) {}

  of(actor: Actor): Blobs {
    return new RemoteBlobs(this.server, (label, serve) => this.network.call(actor, label, serve));
  }
}

class RemoteBlobs extends Blobs {
  constructor(
    private readonly server: Blobs,
    private readonly call: <T>(label: string, serve: () => Promise<T>) => Promise<T>,
  ) {
    super();
  }

  override put = (bytes: Readable) => this.call('put a blob', () => this.server.put(bytes));
  override get = (sha256: string) => this.call(`get blob ${sha256.slice(0, 8)}`, () => this.server.get(sha256));
  override delete = (sha256: string) => this.call(`delete blob ${sha256.slice(0, 8)}`, () => this.server.delete(sha256));
}
