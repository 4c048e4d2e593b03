import type { Sql } from 'postgres';

/** The server did not answer in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code = 'CONNECT_TIMEOUT';
}

/**
 * A pool that replaces all its connections when one stops answering. A frozen server or a cut cable causes no error, and a query
 * would wait for the TCP timeout. A caller that has less time than a server may take does not break the queries of the others.
 */
export class Pool {
  private current: Sql;
  private closed = false;

  /** @param silentMsMax how long a query may be unanswered until the connections are replaced */
  constructor(
    private readonly open: () => Sql,
    private readonly silentMsMax: number,
  ) {
    this.current = open();
  }

  get sql(): Sql {
    return this.current;
  }

  /** @throws NoAnswer, or the error of the query */
  async run<T>(query: (sql: Sql) => PromiseLike<T>, timeoutMs: number): Promise<T> {
    const sql = this.current;
    const answer = Promise.resolve(query(sql));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.replaceUnless(answer, this.silentMsMax - timeoutMs, sql);
        reject(new NoAnswer(`No answer within ${timeoutMs} ms.`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(timeoutSeconds: number): Promise<void> {
    this.closed = true;
    await this.current.end({ timeout: timeoutSeconds });
  }

  /** Replaces the connections unless the answer arrives within a time. */
  private replaceUnless(answer: Promise<unknown>, withinMs: number, stuck: Sql): void {
    if (withinMs <= 0) return this.replace(stuck);
    const timer = setTimeout(() => this.replace(stuck), withinMs).unref();
    const arrived = () => clearTimeout(timer);
    answer.then(arrived, arrived);
  }

  private replace(stuck: Sql): void {
    if (this.closed || this.current !== stuck) return;
    this.current = this.open();
    void stuck.end({ timeout: 0 });
  }
}
