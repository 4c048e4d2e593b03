import type { NatsConnection as Client, Subscription } from '@nats-io/transport-node';
import { SIGNAL_BYTES_MAX, Signals } from '../../../kernel/messaging/signals.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { toNatsSubject } from '../nats/nats-names.js';
import { InProcessSignals, warnOfListener } from './in-process-signals.js';

/** The subscription of a subject, and the number of its listeners. */
type Topic = { listeners: number; subscription?: Subscription };

/**
 * Signals between processes over core NATS: delivered at most once, and lost while the server is unavailable. Listeners of the
 * same process are called directly, also without a server; the connection does not echo a process's own signals.
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
      // The connection is closing, so this signal is lost.
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

  /** The number of subjects with listeners. */
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

  /** Subscribes once for all listeners of a subject. The client renews the subscription after each reconnection. */
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
