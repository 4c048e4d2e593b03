import { Injectable, Logger } from '@nestjs/common';
import { degraded, type Impairment, notReady } from '../../kernel/conditions.js';
import { backOffMs } from '../../platform/supervision/back-off.js';
import { isOutage } from '../../platform/supervision/outage.js';
import { systemTiming } from '../../platform/system-timing.js';
import { SeedDemo } from './seed-demo.js';

/**
 * The maximum time for which a missing demo makes a process not ready. Then it is only degraded, because others may want to use
 * it.
 */
export const UNREADY_MS_MAX = 60_000;

/** Creates the demo in the background and repeats it until it succeeds. Nothing else depends on it. */
@Injectable()
export class DemoSeeding {
  private readonly logger = new Logger(DemoSeeding.name);
  private readonly stopping = new AbortController();
  private state: 'idle' | 'seeding' | 'over' = 'idle';
  private startedAt = 0;
  private failure: unknown;
  private settle!: (hasDemo: boolean) => void;
  /** Resolves once it is known whether there is a usable demo agent. */
  readonly hasDemo = new Promise<boolean>((resolve) => (this.settle = resolve));

  constructor(private readonly demo: SeedDemo) {}

  start(): void {
    this.state = 'seeding';
    this.startedAt = performance.now();
    void this.run(this.stopping.signal);
  }

  /** Aborts the seeding. The next process finishes it. */
  stop(): void {
    this.stopping.abort();
    this.end(false);
  }

  /** The reason why the printed example would fail now, if any. */
  impairment(now = performance.now()): Impairment | undefined {
    if (this.state !== 'seeding') return undefined;
    const why = this.failure === undefined ? '' : ` ${messageOf(this.failure)}`;
    const mayStillCome = this.failure === undefined || isOutage(this.failure);
    if (mayStillCome && now - this.startedAt < UNREADY_MS_MAX) return notReady(`The demo agent is being made.${why}`);
    return degraded(`The demo agent is not there yet, and is tried again.${why}`);
  }

  private async run(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return this.end(await this.demo.seed(signal));
      } catch (error) {
        if (signal.aborted) return;
        if (messageOf(error) !== messageOf(this.failure))
          this.logger.warn(`The demo agent is not there yet, and is tried again: ${messageOf(error)}`);
        this.failure = error;
        await systemTiming.pause(backOffMs(attempt, systemTiming), signal);
      }
    }
  }

  private end(hasDemo: boolean): void {
    this.state = 'over';
    this.settle(hasDemo);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
