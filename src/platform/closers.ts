/** What was opened, to be let go of in the reverse order: each of them, also when one before it cannot be. */
export class Closers {
  private readonly closers: (() => Promise<unknown>)[] = [];

  async opened<T>(making: Promise<T> | T, close: (made: T) => Promise<unknown>): Promise<T> {
    const made = await making;
    this.closers.push(() => close(made));
    return made;
  }

  /** @throws AggregateError of what went wrong, at the end */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closers.splice(0).reverse()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `Not everything could be closed: ${failures.map(String).join(' ')}`);
  }
}
