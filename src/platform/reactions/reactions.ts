import { setMaxListeners } from 'node:events';
import type { Sql } from 'postgres';
import { BatchClock } from '../../kernel/event-sourcing/batch-clock.js';
import type { LogFilter } from '../../kernel/event-sourcing/event-store.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Leadership } from '../supervision/leadership.js';
import { supervise } from '../supervision/supervise.js';
import { type ReactionDependencies, ReactionRunner } from './reaction-runner.js';
import { createReactionTables, ReactionTables } from './reaction-tables.js';

/** All reactions of a process. Each follows the log independently. */
export class Reactions {
  private readonly stopping = new AbortController();
  private readonly leadership: Leadership;
  private readonly runners: readonly ReactionRunner[];
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dependencies: Omit<ReactionDependencies, 'leadership' | 'tables' | 'saveClock'> & Readonly<{ sql: Sql }>,
    reactions: readonly Reaction[],
  ) {
    // Every reaction adds a listener.
    setMaxListeners(0, this.stopping.signal);
    this.leadership = new Leadership(dependencies.sql, dependencies.timing);
    const { sql, timing } = dependencies;
    const all = {
      ...dependencies,
      tables: new ReactionTables(sql),
      leadership: this.leadership,
      saveClock: new BatchClock(timing),
    };
    this.runners = reactions.map((reaction) => new ReactionRunner(all, reaction));
  }

  start(): void {
    this.running = this.run(this.stopping.signal);
  }

  failureOf(name: string): string | undefined {
    return this.runnerOf(name)?.failure;
  }

  filterOf(name: string): LogFilter | undefined {
    return this.runnerOf(name)?.filter;
  }

  /** Accepts no further events, finishes those in progress, and gives the leadership up. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.leadership.close();
  }

  private runnerOf(name: string): ReactionRunner | undefined {
    return this.runners.find(({ reaction }) => reaction.name === name);
  }

  private run(signal: AbortSignal): Promise<void> {
    const { sql, log, timing } = this.dependencies;
    const prepareAndRun = async () => {
      await createReactionTables(sql);
      await Promise.all(this.runners.map((runner) => runner.run(signal)));
    };
    return supervise(prepareAndRun, { name: 'Preparing the reactions', signal, log, timing });
  }
}
