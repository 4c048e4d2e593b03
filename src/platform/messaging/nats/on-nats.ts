import type { NatsConnection as Client } from '@nats-io/transport-node';
import type { NatsConnection } from './nats-connection.js';

class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Something kept on the server (a bucket, a stream), made sure of at its first use and again after each failure. */
export class OnNats<Store> {
  private opened: Promise<Store> | undefined;

  constructor(
    private readonly nats: NatsConnection,
    private readonly open: (client: Client) => Promise<Store>,
    private readonly unavailable: (cause: unknown) => Error,
  ) {}

  /** Works with the store within the connection's deadline. Every failure is told as `unavailable`. */
  async run<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    return this.attempt(() => this.withinDeadline(this.store().then(work)));
  }

  /** As `run` for work of unknown length, whose single requests have deadlines of their own. */
  async runLong<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    return this.attempt(() => this.store().then(work));
  }

  private async attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.opened = undefined;
      throw this.unavailable(error);
    }
  }

  private async store(): Promise<Store> {
    const client = await this.nats.ready();
    return (this.opened ??= this.open(client));
  }

  private async withinDeadline<Result>(work: Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DeadlinePassed(`No answer within ${this.nats.deadlineMs} ms.`)), this.nats.deadlineMs);
    });
    try {
      return await Promise.race([work, deadline]);
    } finally {
      clearTimeout(timer);
    }
  }
}
