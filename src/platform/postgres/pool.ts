import type { Sql } from 'postgres';

/** The server said nothing within the time given. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code = 'CONNECT_TIMEOUT';
}

/**
 * Connections that are given up when one of them stops answering: a frozen server or a cut cable shows no error, and a query
 * on its way there would wait for as long as TCP has patience.
 */
export class Pool {
  private current: Sql;
  private closed = false;

  constructor(private readonly open: () => Sql) {
    this.current = open();
  }

  get sql(): Sql {
    return this.current;
  }

  /** @throws NoAnswer, or what the query throws */
  async run<T>(query: (sql: Sql) => PromiseLike<T>, timeoutMs: number): Promise<T> {
    const sql = this.current;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.replace(sql);
        reject(new NoAnswer(`No answer within ${timeoutMs} ms.`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([query(sql), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(timeoutSeconds: number): Promise<void> {
    this.closed = true;
    await this.current.end({ timeout: timeoutSeconds });
  }

  private replace(stuck: Sql): void {
    if (this.closed || this.current !== stuck) return;
    this.current = this.open();
    void stuck.end({ timeout: 0 });
  }
}
