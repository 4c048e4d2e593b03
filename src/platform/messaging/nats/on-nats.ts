import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection as Client } from '@nats-io/transport-node';
import { namesFullDisk } from '../../../kernel/full-disk.js';
import type { NatsConnection } from './nats-connection.js';

class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Codes of JetStream for an account or a server that has no space left. */
const NO_SPACE: ReadonlySet<number> = new Set([10_002, 10_023, 10_028, 10_047]);

/** The error, or one of a full disk if JetStream reports that no space is left. */
function meaningOf(error: unknown): unknown {
  if (!(error instanceof JetStreamApiError) || !(NO_SPACE.has(error.code) || namesFullDisk(error.message))) return error;
  return Object.assign(new Error('NATS has no space left.', { cause: error }), { code: 'ENOSPC' });
}

/** A bucket or stream on the server. It is created or checked at the first use and after each failure. */
export class OnNats<Store> {
  private opened: Promise<Store> | undefined;

  constructor(
    private readonly nats: NatsConnection,
    private readonly open: (client: Client) => Promise<Store>,
    private readonly unavailable: (cause: unknown) => Error,
  ) {}

  /** Runs work with the store within the connection's deadline. Failures are thrown as the `unavailable` error. */
  async run<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    return this.attempt(() => this.withinDeadline(this.store().then(work)));
  }

  /** As `run`, for work of unknown duration whose requests have their own deadlines. */
  async runLong<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
    return this.attempt(() => this.store().then(work));
  }

  private async attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.opened = undefined;
      throw this.unavailable(meaningOf(error));
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
