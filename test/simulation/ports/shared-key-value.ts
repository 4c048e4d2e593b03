import { KeyValue, type KeyValueEntry } from '../../../src/kernel/messaging/key-value.js';
import { InProcessKeyValue } from '../../../src/platform/messaging/key-value/in-process-key-value.js';
import type { Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from './network.js';

type Ttl = { ttlMs?: number };

/** The key-value store that all processes share. */
export class SharedKeyValue {
  readonly server: KeyValue;

  constructor(
    simulation: Simulation,
    private readonly network: Network,
  ) {
    this.server = new InProcessKeyValue(() => simulation.nowMs);
  }

  of(actor: Actor): KeyValue {
    return new RemoteKeyValue(this.server, (label, serve) => this.network.call(actor, label, serve));
  }
}

class RemoteKeyValue extends KeyValue {
  constructor(
    private readonly server: KeyValue,
    private readonly call: <T>(label: string, serve: () => Promise<T>) => Promise<T>,
  ) {
    super();
  }

  override get = (key: string): Promise<KeyValueEntry | undefined> => this.call(`get ${key}`, () => this.server.get(key));
  override put = (key: string, value: string, options?: Ttl) =>
    this.call(`put ${key}`, () => this.server.put(key, value, options));
  override create = (key: string, value: string, options?: Ttl) =>
    this.call(`create ${key}`, () => this.server.create(key, value, options));
  override update = (key: string, value: string, revision: number, options?: Ttl) =>
    this.call(`update ${key}`, () => this.server.update(key, value, revision, options));
  override delete = (key: string, revision?: number) => this.call(`delete ${key}`, () => this.server.delete(key, revision));
  override keys = (prefix: string) => this.call(`keys ${prefix}`, () => this.server.keys(prefix));
}
