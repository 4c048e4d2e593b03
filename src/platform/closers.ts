/** Opened resources. They are closed in reverse order; a failure does not keep the remaining ones open. */
export class Closers {
  private readonly closers: (() => Promise<unknown>)[] = [];

  async opened<T>(making: Promise<T> | T, close: (made: T) => Promise<unknown>): Promise<T> {
    const made = await making;
    this.closers.push(() => close(made));
    return made;
  }

  /** Closes all resources. @throws AggregateError of the failures, after all were tried */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closers.splice(0).reverse()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `Not everything could be closed: ${failures.map(String).join(' ')}`);
  }
}
