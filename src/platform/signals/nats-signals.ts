import type { NatsConnection as Client, Subscription } from '@nats-io/transport-node';
import { SIGNAL_BYTES_MAX, Signals } from '../../kernel/signals.js';
import type { NatsConnection } from '../nats/nats-connection.js';
import { toNatsSubject } from '../nats/nats-names.js';

type Listener = Readonly<{ onSignal: (payload: string) => void }>;
type Topic = { readonly listeners: Set<Listener>; subscription?: Subscription };

const warn = (error: unknown): void => process.emitWarning(error instanceof Error ? error : String(error));

/** Signals among processes, over NATS without storage: at most once, and lost while the server is away. */
export class NatsSignals extends Signals {
  private readonly topics = new Map<string, Topic>();

  constructor(
    private readonly nats: NatsConnection,
    private readonly onListenerError: (error: unknown) => void = warn,
  ) {
    super();
    nats.onFirstConnection((client) => {
      for (const [subject, topic] of this.topics) this.listen(client, subject, topic);
    });
  }

  get healthy(): boolean {
    return this.nats.connected;
  }

  publish(subject: string, payload: string): void {
    if (Buffer.byteLength(payload) > SIGNAL_BYTES_MAX) return;
    try {
      this.nats.current?.publish(this.nameOf(subject), payload);
    } catch {
      // The connection is being closed: this signal is lost, as any may be.
    }
  }

  subscribe(subject: string, onSignal: (payload: string) => void): () => void {
    const listener: Listener = { onSignal };
    const topic = this.topics.get(subject) ?? this.open(subject);
    topic.listeners.add(listener);
    return () => {
      topic.listeners.delete(listener);
      if (topic.listeners.size > 0 || this.topics.get(subject) !== topic) return;
      this.topics.delete(subject);
      topic.subscription?.unsubscribe();
    };
  }

  /** How many subjects somebody listens to. */
  get subjects(): number {
    return this.topics.size;
  }

  private open(subject: string): Topic {
    const topic: Topic = { listeners: new Set() };
    this.topics.set(subject, topic);
    if (!this.nats.closed.aborted) this.nats.onFirstConnection((client) => this.listen(client, subject, topic));
    return topic;
  }

  /** One subscription serves all listeners of a subject; the client renews it after each reconnection. */
  private listen(client: Client, subject: string, topic: Topic): void {
    if (topic.subscription || this.topics.get(subject) !== topic) return;
    topic.subscription = client.subscribe(this.nameOf(subject), {
      callback: (error, message) => {
        if (error) return this.onListenerError(error);
        const payload = message.string();
        for (const listener of [...topic.listeners]) if (topic.listeners.has(listener)) this.call(listener, payload);
      },
    });
  }

  /** An error thrown into the client would end its reader for good, with the connection seemingly open. */
  private call(listener: Listener, payload: string): void {
    try {
      listener.onSignal(payload);
    } catch (error) {
      this.onListenerError(error);
    }
  }

  private nameOf(subject: string): string {
    return `${this.nats.prefix}.signal.${toNatsSubject(subject)}`;
  }
}
