import type { Sql } from 'postgres';

/** The server did not answer in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code = 'CONNECT_TIMEOUT';
}

/**
 * A pool that replaces all its connections when one stops answering. A frozen server or a cut cable causes no error, and a query
 * would wait for the TCP timeout.
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

  /** @throws NoAnswer, or the error of the query */
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
