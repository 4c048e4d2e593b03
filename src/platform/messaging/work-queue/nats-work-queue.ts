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
} from '../../../kernel/work-queue.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { toNatsName } from '../nats/nats-names.js';
import { OnNats } from '../nats/on-nats.js';
import { NatsWorker } from './nats-worker.js';

type Handler = (payload: string) => Promise<void>;
type Stream = Readonly<{ js: JetStreamClient; jsm: JetStreamManager }>;

/** How long a worker may be silent about an item in hand before another gets it. */
const SILENCE_MS = 6_000;
const STREAM_NAME_IN_USE = 10058;

/**
 * A work queue in a JetStream stream: an item stays until a worker says that it is done. Workers say at short intervals
 * that they are alive; an item whose worker has fallen silent goes to another.
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

  /** Adding a stream again is nothing; with other settings than it has, it is changed to these. */
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
    // Workers that died over it are not heard of otherwise.
    if (attempts > ATTEMPTS_MAX) return item.term();
    const alive = setInterval(() => this.tell(() => item.working()), this.silenceMs / 3).unref();
    try {
      await handler(item.string());
      this.tell(() => item.ack());
    } catch {
      this.tell(() => (attempts < ATTEMPTS_MAX ? item.nak(this.retryDelayMs(attempts)) : item.term()));
    } finally {
      clearInterval(alive);
    }
  }

  /** Word that does not reach the server makes the item come again, which is harmless. */
  private tell(word: () => void): void {
    if (this.nats.connected) word();
  }

  private subjectOf(queue: string): string {
    return `${this.nats.prefix}.work.${toNatsName(queue).replaceAll('.', '=2e')}`;
  }
}
