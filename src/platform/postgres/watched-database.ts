import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from 'postgres';

const PROBE_EVERY_MS = 1_000;
/** A server that does not answer a trivial query for this long counts as frozen. */
const SILENCE_MS_MAX = 5_000;
/** Extra time for an answer that arrived while this process was busy. */
const AFTERTHOUGHT_MS = 100;

export type Watching = Readonly<{
  open: () => Sql;
  /** A separate connection to the same server, because busy connections must not count as silent. */
  probe: () => Sql;
  probeEveryMs?: number;
  silenceMsMax?: number;
}>;

/**
 * A database for many callers without timeouts of their own. A frozen server, or one behind a cut cable, causes no error. When
 * the server is silent, all connections are replaced, and the waiting queries fail.
 */
export class WatchedDatabase {
  /** A proxy for the current connections. */
  readonly sql: Sql;
  private current: Sql;
  private probe: Sql;
  private readonly closing = new AbortController();
  /** Ends the wait for the current probe. Not `AbortSignal.any`, of which `closing` would keep a trace for every probe. */
  private probing = new AbortController();
  private readonly watching: Promise<void>;

  constructor(private readonly options: Watching) {
    this.current = options.open();
    this.probe = options.probe();
    this.sql = proxyFor(() => this.current);
    this.watching = this.watch();
  }

  async close(timeoutSeconds: number): Promise<void> {
    this.closing.abort();
    this.probing.abort();
    await this.watching;
    await Promise.all([this.current.end({ timeout: timeoutSeconds }), this.probe.end({ timeout: 0 })]);
  }

  private async watch(): Promise<void> {
    const { open, probe, probeEveryMs: lookEveryMs = PROBE_EVERY_MS } = this.options;
    const { signal } = this.closing;
    while (!signal.aborted) {
      await pause(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || !(await this.isSilent())) continue;
      const stuck = [this.current, this.probe];
      [this.current, this.probe] = [open(), probe()];
      for (const each of stuck) void each.end({ timeout: 0 });
    }
  }

  /** Whether the server is silent. A server that refuses or drops connections is not: its callers get an error anyway. */
  private async isSilent(): Promise<boolean> {
    const { silenceMsMax = SILENCE_MS_MAX } = this.options;
    const over = (this.probing = new AbortController());
    const heard = Promise.resolve(this.probe`select 1`).then(
      () => false,
      () => false,
    );
    const silence = pause(silenceMsMax, undefined, { signal: over.signal, ref: false })
      .then(() => pause(AFTERTHOUGHT_MS, undefined, { ref: false }))
      .then(
        () => true,
        () => false,
      );
    return Promise.race([heard, silence]).finally(() => over.abort());
  }
}

/** A proxy that forwards everything to the current `Sql`. */
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
