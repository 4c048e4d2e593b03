import { Injectable } from '@nestjs/common';
import { Ids } from '../../kernel/ids.js';
import { KeyValue, KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { Timing } from '../../kernel/timing.js';
import { userKey } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';

/** A connection that lasts longer no longer counts. */
const SLOT_MS = 7 * 24 * 60 * 60 * 1_000;
const BEATS_PER_LEASE = 3;

/** The value of a slot: the connection that holds it. */
type Taken = Readonly<{ process: string; claim: string }>;

/** Releases a slot. Further calls have no effect. */
export type Release = () => Promise<void>;

const aliveKey = (process: string): string => `event-stream-process.${process}`;

/**
 * Counts the connections of each user in all processes. Each process renews one key that says that it is alive, so an open
 * connection costs nothing. If a user has no free slot, the slots of crashed processes are reused.
 */
@Injectable()
export class ConnectionSlots {
  private readonly process: string;
  private alive: Promise<void> | undefined;
  private stop: (() => void) | undefined;
  /** Slots that could not be released while the store was unavailable. */
  private unreleased: (() => Promise<void>)[] = [];
  /** The values of the slots that are held or being taken. */
  private readonly values = new Set<string>();
  /** The keys that the store may hold for this process without a connection, because it has not answered a claim. */
  private readonly unsure = new Set<string>();

  constructor(
    private readonly keyValue: KeyValue,
    private readonly timing: Timing,
    private readonly ids: Ids,
    private readonly options: UserEventsOptions,
  ) {
    this.process = ids.next();
  }

  /** Takes a slot. Undefined if the user has the maximum number of connections. @throws KeyValueUnavailable */
  async take(userId: string): Promise<Release | undefined> {
    const value = JSON.stringify({ process: this.process, claim: this.ids.next() } satisfies Taken);
    let key: string | undefined;
    this.values.add(value);
    try {
      await this.showAlive();
      key = await this.taken(userKey(userId), value);
    } finally {
      if (key === undefined) this.leave(value);
    }
    return key === undefined ? undefined : this.releaseOf(key, value);
  }

  private async taken(user: string, value: string): Promise<string | undefined> {
    const { connectionsPerUserMax } = this.options.settings;
    const keys = Array.from({ length: connectionsPerUserMax }, (_, slot) => `event-stream.${user}.${slot}`);
    const create = (key: string) => this.keyValue.create(key, value, { ttlMs: SLOT_MS });
    for (const key of keys) if (await this.claimed(key, create)) return key;
    for (const key of keys) if (await this.claimed(key, () => this.takeFromDead(key, value))) return key;
    return undefined;
  }

  private async claimed(key: string, claim: (key: string) => Promise<boolean>): Promise<boolean> {
    try {
      return await claim(key);
    } catch (error) {
      this.unsure.add(key);
      throw error;
    }
  }

  private async takeFromDead(key: string, value: string): Promise<boolean> {
    const entry = await this.keyValue.get(key);
    if (!entry) return this.keyValue.create(key, value, { ttlMs: SLOT_MS });
    const { process } = JSON.parse(entry.value) as Taken;
    if (process === this.process || (await this.keyValue.get(aliveKey(process)))) return false;
    return this.keyValue.update(key, value, entry.revision, { ttlMs: SLOT_MS });
  }

  private releaseOf(key: string, value: string): Release {
    let isReleased = false;
    const release = async () => {
      const entry = await this.keyValue.get(key);
      if (entry?.value === value) await this.keyValue.delete(key, entry.revision);
      this.leave(value);
    };
    return async () => {
      if (isReleased) return;
      isReleased = true;
      await this.tried(release);
    };
  }

  private async tried(release: () => Promise<void>): Promise<void> {
    try {
      await release();
    } catch (error) {
      if (!(error instanceof KeyValueUnavailable)) throw error;
      this.unreleased.push(release);
    }
  }

  /** Writes the alive key before the first slot is taken, so that no other process regards this one as crashed. */
  private async showAlive(): Promise<void> {
    const { connectionLeaseMs } = this.options.settings;
    this.stop ??= this.timing.every(connectionLeaseMs / BEATS_PER_LEASE, () => void this.beat());
    try {
      await (this.alive ??= this.sayAlive());
    } catch (error) {
      this.alive = undefined;
      throw error;
    }
  }

  private async beat(): Promise<void> {
    // A failed write is repeated at the next beat.
    await this.sayAlive().catch(() => undefined);
    for (const release of this.unreleased.splice(0)) await this.tried(release);
    await this.releaseUnsure().catch(() => undefined);
    this.stopIfIdle();
  }

  /** Releases slots that no connection of this process holds. @throws KeyValueUnavailable */
  private async releaseUnsure(): Promise<void> {
    for (const key of this.unsure) {
      const entry = await this.keyValue.get(key);
      const isOurs = entry !== undefined && (JSON.parse(entry.value) as Taken).process === this.process;
      if (isOurs && !this.values.has(entry.value)) await this.keyValue.delete(key, entry.revision);
      this.unsure.delete(key);
    }
  }

  private sayAlive(): Promise<void> {
    return this.keyValue.put(aliveKey(this.process), '', { ttlMs: this.options.settings.connectionLeaseMs });
  }

  private leave(value: string): void {
    this.values.delete(value);
    this.stopIfIdle();
  }

  private stopIfIdle(): void {
    if (this.values.size > 0 || this.unsure.size > 0) return;
    this.stop?.();
    this.stop = undefined;
    this.alive = undefined;
  }
}
