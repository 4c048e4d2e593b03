import { JetStreamApiCodes, JetStreamApiError, jetstream, type JetStreamManager } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import {
  assertWithinLimits,
  KeyValue,
  type KeyValueEntry,
  KEPT_MS_MAX,
  KeyValueUnavailable,
} from '../../../kernel/messaging/key-value.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { fromNatsName, toNatsName } from '../nats/nats-names.js';
import { OnNats } from '../nats/on-nats.js';
import { ServerTime } from './server-time.js';

type Ttl = { ttlMs?: number };
type Bucket = Readonly<{ kv: KV; jsm: JetStreamManager; stream: string; subjects: string }>;
type Found = Readonly<{ revision: number; living: KeyValueEntry | undefined }>;

/** Number of concurrent reads of a listing. */
const READS_MAX = 64;

/** A key that is written to learn the server's time. It is not a value. */
const TIME_KEY = 'server-time';

/**
 * A key-value store in a JetStream bucket. Servers before 2.11 have no time to live per key, so a value contains its time to
 * live, counted from the server's time of the write. An expired value, by the server's time, reads as absent. The bucket drops it
 * after KEPT_MS_MAX.
 */
export class NatsKeyValue extends KeyValue {
  private readonly bucket: OnNats<Bucket>;

  constructor(
    nats: NatsConnection,
    private readonly serverTime = new ServerTime(),
  ) {
    super();
    const name = `${nats.prefix}_state`;
    this.bucket = new OnNats(
      nats,
      async (client) => {
        const js = jetstream(client, { timeout: nats.deadlineMs });
        // A direct read may reach a lagging replica, which must not answer for a lease.
        const kv = await new Kvm(js).create(name, { history: 1, ttl: KEPT_MS_MAX, replicas: nats.replicas, allow_direct: false });
        return { kv, jsm: await js.jetstreamManager(), stream: `KV_${name}`, subjects: `$KV.${name}.` };
      },
      (cause) => new KeyValueUnavailable('The key-value store did not answer.', { cause }),
    );
  }

  /** Checks that values can be written. @throws KeyValueUnavailable */
  async check(): Promise<void> {
    await this.bucket.run(({ kv }) => kv.put(TIME_KEY, encode('', 0)));
  }

  async get(key: string): Promise<KeyValueEntry | undefined> {
    assertWithinLimits(key);
    return this.bucket.run(async (bucket) => (await this.find(bucket, toNatsName(key))).living);
  }

  async put(key: string, value: string, { ttlMs }: Ttl = {}): Promise<void> {
    assertWithinLimits(key, value, ttlMs);
    await this.bucket.run(({ kv }) => kv.put(toNatsName(key), encode(value, ttlMs)));
  }

  async create(key: string, value: string, { ttlMs }: Ttl = {}): Promise<boolean> {
    assertWithinLimits(key, value, ttlMs);
    const name = toNatsName(key);
    return this.bucket.run(async (bucket) => {
      if (await writtenAt(bucket, name, encode(value, ttlMs), 0)) return true;
      const { living, revision } = await this.find(bucket, name);
      return !living && (await writtenAt(bucket, name, encode(value, ttlMs), revision)) !== false;
    });
  }

  async update(key: string, value: string, revision: number, { ttlMs }: Ttl = {}): Promise<boolean> {
    assertWithinLimits(key, value, ttlMs);
    const name = toNatsName(key);
    return this.bucket.run(async (bucket) => {
      const { living } = await this.find(bucket, name);
      return living?.revision === revision && (await writtenAt(bucket, name, encode(value, ttlMs), revision)) !== false;
    });
  }

  /** Deletes a key. The deletion marker would be kept as long as a value, so it is purged too. */
  async delete(key: string, revision?: number): Promise<boolean> {
    assertWithinLimits(key);
    const name = toNatsName(key);
    return this.bucket.run(async (bucket) => {
      const { living } = await this.find(bucket, name);
      if (revision !== undefined && living?.revision !== revision) return false;
      if (!living) return true;
      const expired = encode('', 0);
      const marker =
        revision === undefined ? await bucket.kv.put(name, expired) : await writtenAt(bucket, name, expired, revision);
      if (!marker) return false;
      await bucket.jsm.streams.purge(bucket.stream, { filter: bucket.subjects + name, seq: marker + 1 });
      return true;
    });
  }

  async keys(prefix: string): Promise<readonly string[]> {
    return this.bucket.run(async (bucket) => {
      const { state } = await bucket.jsm.streams.info(bucket.stream, { subjects_filter: bucket.subjects + filterOf(prefix) });
      const names = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(bucket.subjects.length));
      const candidates = names.filter((name) => fromNatsName(name).startsWith(prefix));
      const living: string[] = [];
      for (let from = 0; from < candidates.length; from += READS_MAX) {
        const page = candidates.slice(from, from + READS_MAX);
        const found = await Promise.all(page.map((name) => this.find(bucket, name)));
        living.push(...page.filter((_, index) => found[index]?.living).map(fromNatsName));
      }
      return living.sort();
    });
  }

  /** The newest value, and the revision that the next write must expect, even if the value has expired or was deleted. */
  private async find({ kv }: Bucket, name: string): Promise<Found> {
    const entry = await kv.get(name);
    if (!entry) return { revision: 0, living: undefined };
    const { value, ttlMs } = decode(entry.string());
    const lives =
      entry.operation === 'PUT' && (ttlMs === Infinity || (ttlMs > 0 && (await this.isYet(kv, entry.created, ttlMs))));
    return { revision: entry.revision, living: lives ? { value, revision: entry.revision } : undefined };
  }

  private async isYet(kv: KV, created: Date, ttlMs: number): Promise<boolean> {
    const asked = async () => {
      await kv.put(TIME_KEY, encode('', 0));
      return (await kv.get(TIME_KEY))!.created;
    };
    return created.getTime() + ttlMs > (await this.serverTime.now(asked));
  }
}

/** The new revision; false if the key was not at the expected one. */
async function writtenAt({ kv }: Bucket, name: string, text: string, expected: number): Promise<number | false> {
  try {
    return await kv.put(name, text, { previousSeq: expected });
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence) return false;
    throw error;
  }
}

const encode = (value: string, ttlMs?: number): string => `${ttlMs ?? ''}\n${value}`;

function decode(text: string): { value: string; ttlMs: number } {
  const end = text.indexOf('\n');
  return { value: text.slice(end + 1), ttlMs: end === 0 ? Infinity : Number(text.slice(0, end)) };
}

/** The filter for a prefix. The server filters by whole tokens only. */
function filterOf(prefix: string): string {
  const dot = prefix.lastIndexOf('.');
  return dot < 0 ? '>' : `${toNatsName(prefix.slice(0, dot))}.>`;
}
