import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';

const LOOK_EVERY_MS = 1_000;
/** A server that is asked for next to nothing and says nothing for so long is taken for frozen. */
const SILENCE_MS_MAX = 5_000;
/** What came while this process was busy itself still counts. */
const AFTERTHOUGHT_MS = 100;

export type Watching = Readonly<{
  open: () => Sql;
  /** A connection of its own to the same server: that others are busy must not count as silence. */
  probe: () => Sql;
  lookEveryMs?: number;
  silenceMsMax?: number;
}>;

/**
 * A database for many callers who wait without an end of their own. Of a frozen server, or one behind a cut cable, nothing
 * is heard: its connections are given up all at once, so that waiting callers are told, and opened anew.
 */
export class WatchedDatabase {
  /** Stands for whichever connections are good at the moment. */
  readonly sql: Sql;
  private current: Sql;
  private probe: Sql;
  private readonly closing = new AbortController();
  private readonly watching: Promise<void>;

  constructor(private readonly options: Watching) {
    this.current = options.open();
    this.probe = options.probe();
    this.sql = proxyFor(() => this.current);
    this.watching = this.watch();
  }

  async close(timeoutSeconds: number): Promise<void> {
    this.closing.abort();
    await this.watching;
    await Promise.all([this.current.end({ timeout: timeoutSeconds }), this.probe.end({ timeout: 0 })]);
  }

  private async watch(): Promise<void> {
    const { open, probe, lookEveryMs = LOOK_EVERY_MS } = this.options;
    const { signal } = this.closing;
    while (!signal.aborted) {
      await pause(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || !(await this.isSilent())) continue;
      const stuck = [this.current, this.probe];
      [this.current, this.probe] = [open(), probe()];
      for (const each of stuck) void each.end({ timeout: 0 });
    }
  }

  /** A server that refuses or drops connections is away, but not silent: its callers are told anyway. */
  private async isSilent(): Promise<boolean> {
    const { silenceMsMax = SILENCE_MS_MAX } = this.options;
    const over = new AbortController();
    const heard = Promise.resolve(this.probe`select 1`).then(
      () => false,
      () => false,
    );
    const silence = pause(silenceMsMax, undefined, { signal: AbortSignal.any([over.signal, this.closing.signal]), ref: false })
      .then(() => pause(AFTERTHOUGHT_MS, undefined, { ref: false }))
      .then(
        () => true,
        () => false,
      );
    return Promise.race([heard, silence]).finally(() => over.abort());
  }
}

/** Everything that can be done with the one can be done with the other. */
function proxyFor(current: () => Sql): Sql {
  const target = (() => undefined) as unknown as Sql;
  return new Proxy(target, {
    apply: (_target, _this, args) => Reflect.apply(current(), undefined, args) as unknown,
    get: (_target, key) => {
      const sql = current() as unknown as Record<string | symbol, unknown>;
      const value = sql[key];
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(sql) : value;
    },
  });
}
