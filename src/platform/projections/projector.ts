import { setMaxListeners } from 'node:events';
import type { Projection } from '../../../projections/projection.js';
import type { LogFilter } from '../../kernel/event-sourcing/event-store.js';
import { Leadership } from '../supervision/leadership.js';
import { Semaphore } from '../supervision/semaphore.js';
import { definitionOf } from './definition.js';
import { LiveGroup } from './live-group.js';
import { ProjectionRunner, type RunnerDependencies } from './projection-runner.js';

/** The share of the process's connections that projections use while they are behind. The others stay free for requests. */
const CATCHING_UP_SHARE = 0.5;

/** All projections of a process. Up-to-date ones share transactions, but none waits for or fails with another. */
export class Projector {
  private readonly stopping = new AbortController();
  private readonly leadership: Leadership;
  private runners: readonly ProjectionRunner[] = [];
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dependencies: Omit<RunnerDependencies, 'leadership' | 'group' | 'catchingUp'>,
    private readonly projections: readonly Projection[],
  ) {
    // Every projection adds a listener.
    setMaxListeners(0, this.stopping.signal);
    this.leadership = new Leadership(dependencies.sql, dependencies.timing);
  }

  async start(): Promise<void> {
    const definitions = await Promise.all(this.projections.map(definitionOf));
    const group = new LiveGroup(this.dependencies, unionOf(this.projections));
    const { max: connections } = this.dependencies.sql.options;
    const catchingUp = new Semaphore(Math.ceil(connections * CATCHING_UP_SHARE));
    const dependencies = { ...this.dependencies, leadership: this.leadership, group, catchingUp };
    this.runners = definitions.map((definition) => new ProjectionRunner(dependencies, definition));
    this.running = Promise.all(this.runners.map((runner) => runner.run(this.stopping.signal)));
  }

  /** Why a projection that this process runs makes no progress; undefined if it does. */
  failureOf(name: string): string | undefined {
    return this.runners.find((runner) => runner.name === name)?.failure;
  }

  /** Stops following, finishes the current pages, and gives the leadership up. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.leadership.close();
  }
}

/** The filter that matches what any of the filters matches. */
function unionOf(filters: readonly LogFilter[]): LogFilter {
  const open = filters.filter(({ categories }) => categories === undefined);
  const named = new Set(filters.flatMap(({ categories }) => categories ?? []));
  if (open.length === 0) return { categories: [...named] };
  const [first, ...others] = open.map(({ exceptCategories }) => exceptCategories ?? []);
  const unwanted = first!.filter((category) => !named.has(category) && others.every((except) => except.includes(category)));
  return unwanted.length > 0 ? { exceptCategories: unwanted } : {};
}
