import { Rejection } from '../../../src/kernel/rejection.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from '../ports/network.js';
import type { Roles } from './roles.js';
import type { ServiceProcess } from './service-process.js';

/** The outcome of a request for its caller. `refused`: by the rules. `unavailable`: temporarily. `lost`: unknown. */
export type Reply<T> = Readonly<
  { how: 'answered'; value: T } | { how: 'refused'; code: string } | { how: 'unavailable'; error: Error } | { how: 'lost' }
>;

/** The process's side of a connection. Items arrive in the order in which they were sent. */
export type Sending<Item> = Readonly<{ send: (item: Item) => void; signal: AbortSignal }>;

/** A client's request to a process. Items arrive in order, and either side may close it. */
export class Connection<T, Item = never> {
  readonly reply: Promise<Reply<T>>;
  private settle!: (reply: Reply<T>) => void;
  private readonly gone = new AbortController();
  private arrivesAtMs = 0;
  private isOver = false;

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
    private readonly process: ServiceProcess,
    label: string,
    work: (roles: Roles, sending: Sending<Item>) => Promise<T>,
    private readonly receive: (item: Item) => void = () => undefined,
  ) {
    this.reply = new Promise((resolve) => {
      this.settle = resolve;
    });
    const forget = process.serve(
      label,
      (roles) => {
        const sending = { send: (item: Item) => this.arrive(() => this.receive(item)), signal: this.gone.signal };
        work(roles, sending).then(
          (value) => this.arrive(() => this.end({ how: 'answered', value }, forget)),
          (error: Error) => this.arrive(() => this.end(replyFor(error), forget)),
        );
      },
      () =>
        this.simulation.after(this.network.delayMs(), this.simulation.world, 'connection lost', () => this.end({ how: 'lost' })),
    );
  }

  /** Closes the connection from the client's side. */
  cut(): void {
    if (this.isOver) return;
    const { process, gone } = this;
    this.simulation.after(this.network.delayMs(), process.actor, 'the client is gone', () => gone.abort());
    this.end({ how: 'lost' });
  }

  private end(reply: Reply<T>, forget: () => void = () => undefined): void {
    forget();
    this.isOver = true;
    this.settle(reply);
  }

  private arrive(act: () => void): void {
    const { simulation } = this;
    this.arrivesAtMs = Math.max(this.arrivesAtMs + 0.001, simulation.nowMs + this.network.delayMs());
    simulation.after(this.arrivesAtMs - simulation.nowMs, simulation.world, 'the client hears', () => {
      if (!this.isOver) act();
    });
  }
}

const replyFor = (error: Error): Reply<never> =>
  error instanceof Rejection ? { how: 'refused', code: error.code } : { how: 'unavailable', error };
