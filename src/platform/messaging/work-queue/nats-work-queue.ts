import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  jetstream,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import {
  ATTEMPTS_MAX,
  DEDUPLICATION_MS,
  PAYLOAD_BYTES_MAX,
  retryDelayMs,
  WAITING_MAX,
  WorkQueue,
  WorkQueueUnavailable,
} from '../../../kernel/messaging/work-queue.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { toNatsName } from '../nats/nats-names.js';
import { OnNats } from '../nats/on-nats.js';
import { NatsWorker } from './nats-worker.js';

type Handler = (payload: string) => Promise<void>;
type Stream = Readonly<{ js: JetStreamClient; jsm: JetStreamManager }>;

/** A worker must confirm its item within this time, or another worker receives it. */
const SILENCE_MS = 6_000;
const STREAM_NAME_IN_USE = 10058;

/**
 * A work queue in a JetStream stream. An item stays until a worker acknowledges it. Workers confirm regularly that they still
 * work on an item; without a confirmation, the item is delivered to another worker.
 */
export class NatsWorkQueue extends WorkQueue {
  private readonly name: string;
  private readonly stream: OnNats<Stream>;
  private readonly silenceMs: number;
  private readonly retryDelayMs: (attempts: number) => number;

  constructor(
    private readonly nats: NatsConnection,
    options: { silenceMs?: number; retryDelayMs?: (attempts: number) => number } = {},
  ) {
    super();
    this.silenceMs = options.silenceMs ?? SILENCE_MS;
    this.retryDelayMs = options.retryDelayMs ?? retryDelayMs;
    this.name = `${nats.prefix}_work`;
    this.stream = new OnNats(
      nats,
      async (client) => {
        const js = jetstream(client, { timeout: nats.deadlineMs });
        const jsm = await js.jetstreamManager();
        await this.makeStream(jsm);
        return { js, jsm };
      },
      (cause) => new WorkQueueUnavailable('The work queue did not answer.', { cause }),
    );
  }

  async enqueue(queue: string, id: string, payload: string): Promise<void> {
    if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) throw new RangeError(`A payload has at most ${PAYLOAD_BYTES_MAX} bytes.`);
    const subject = this.subjectOf(queue);
    await this.stream.run(({ js }) => js.publish(subject, payload, { msgID: toNatsName(`${queue}.${id}`) }));
  }

  async consume(
    queue: string,
    { concurrency, signal }: { concurrency: number; signal: AbortSignal },
    handler: Handler,
  ): Promise<void> {
    const stopping = AbortSignal.any([signal, this.nats.closed]);
    const consumer = () => this.stream.run((stream) => this.consumerOf(stream, queue));
    await new NatsWorker(concurrency, stopping, consumer, (item) => this.attempt(item, handler)).run();
  }

  /** Creates the stream, or updates its settings. */
  private async makeStream(jsm: JetStreamManager): Promise<void> {
    const settings = {
      name: this.name,
      subjects: [`${this.nats.prefix}.work.*`],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_msgs: WAITING_MAX,
      duplicate_window: nanos(DEDUPLICATION_MS),
      num_replicas: this.nats.replicas,
    };
    try {
      await jsm.streams.add(settings);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NAME_IN_USE) throw error;
      await jsm.streams.update(this.name, settings);
    }
  }

  private async consumerOf({ js, jsm }: Stream, queue: string): Promise<Consumer> {
    const durable = toNatsName(queue);
    await jsm.consumers.add(this.name, {
      durable_name: durable,
      filter_subject: this.subjectOf(queue),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(this.silenceMs),
      max_deliver: -1,
      max_ack_pending: -1,
    });
    return js.consumers.get(this.name, durable);
  }

  private async attempt(item: JsMsg, handler: Handler): Promise<void> {
    const attempts = item.info.deliveryCount;
    // Counts workers that crashed over this item, which no other report covers.
    if (attempts > ATTEMPTS_MAX) return this.send(() => item.term());
    const alive = setInterval(() => this.send(() => item.working()), this.silenceMs / 3).unref();
    try {
      await handler(item.string());
      this.send(() => item.ack());
    } catch {
      this.send(() => (attempts < ATTEMPTS_MAX ? item.nak(this.retryDelayMs(attempts)) : item.term()));
    } finally {
      clearInterval(alive);
    }
  }

  /** Sends a message to the server. If it is lost, the item is delivered again, which is harmless. */
  private send(word: () => void): void {
    if (this.nats.connected) word();
  }

  private subjectOf(queue: string): string {
    return `${this.nats.prefix}.work.${toNatsName(queue).replaceAll('.', '=2e')}`;
  }
}
