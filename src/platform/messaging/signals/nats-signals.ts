import type { NatsConnection as Client, Subscription } from '@nats-io/transport-node';
import { SIGNAL_BYTES_MAX, Signals } from '../../../kernel/signals.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { toNatsSubject } from '../nats/nats-names.js';
import { InProcessSignals, warnOfListener } from './in-process-signals.js';

/** What the server is asked for on behalf of the listeners of one subject. */
type Topic = { listeners: number; subscription?: Subscription };

/**
 * Signals among processes, over NATS without storage: at most once, and lost while the server is away. Listeners of the same
 * process are called directly, with or without a server, and the connection does not bring a process its own signals back.
 */
export class NatsSignals extends Signals {
  private readonly local: InProcessSignals;
  private readonly topics = new Map<string, Topic>();

  constructor(
    private readonly nats: NatsConnection,
    private readonly onListenerError: (error: unknown) => void = warnOfListener,
  ) {
    super();
    this.local = new InProcessSignals(onListenerError);
    nats.onFirstConnection((client) => {
      for (const [subject, topic] of this.topics) this.listen(client, subject, topic);
    });
  }

  get healthy(): boolean {
    return this.nats.connected;
  }

  publish(subject: string, payload: string): void {
    this.local.publish(subject, payload);
    if (Buffer.byteLength(payload) > SIGNAL_BYTES_MAX) return;
    try {
      this.nats.current?.publish(this.nameOf(subject), payload);
    } catch {
      // The connection is being closed: this signal is lost, as any may be.
    }
  }

  subscribe(subject: string, onSignal: (payload: string) => void): () => void {
    const stop = this.local.subscribe(subject, onSignal);
    const topic = this.topics.get(subject) ?? this.open(subject);
    topic.listeners++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      stop();
      if (--topic.listeners > 0) return;
      this.topics.delete(subject);
      topic.subscription?.unsubscribe();
    };
  }

  /** How many subjects somebody listens to. */
  get subjects(): number {
    return this.topics.size;
  }

  private open(subject: string): Topic {
    const topic: Topic = { listeners: 0 };
    this.topics.set(subject, topic);
    const client = this.nats.established;
    if (client) this.listen(client, subject, topic);
    return topic;
  }

  /** One subscription serves all listeners of a subject; the client renews it after each reconnection. */
  private listen(client: Client, subject: string, topic: Topic): void {
    topic.subscription = client.subscribe(this.nameOf(subject), {
      callback: (error, message) => {
        if (error) this.onListenerError(error);
        else this.local.publish(subject, message.string());
      },
    });
  }

  private nameOf(subject: string): string {
    return `${this.nats.prefix}.signal.${toNatsSubject(subject)}`;
  }
}
