import type { KeyValue } from '../../kernel/messaging/key-value.js';

const FAULTS = 'projection-faults.';
/** How long a reported fault is kept. A projection that keeps failing reports it again within this time. */
export const FAULT_TTL_MS = 60_000;
const CHARACTERS_MAX = 2_000;

/**
 * Publishes why projections fail, from the process that runs them to processes that only read the rows. Every failure is
 * published, so a lost report is repeated soon, and a report that is not withdrawn expires.
 */
export class ProjectionFaults {
  private readonly unrecorded = new Map<string, string | undefined>();
  private recording: Promise<void> | undefined;

  constructor(private readonly keyValue: KeyValue) {}

  /** Reports a projection's failure, or (undefined) that it works again. */
  report(name: string, fault: string | undefined): void {
    this.unrecorded.set(name, fault?.slice(0, CHARACTERS_MAX));
    this.recording ??= this.recordAll().finally(() => (this.recording = undefined));
  }

  /** The faults by projection name. @throws KeyValueUnavailable */
  async all(): Promise<ReadonlyMap<string, string>> {
    const keys = await this.keyValue.keys(FAULTS);
    const entries = await Promise.all(keys.map((key) => this.keyValue.get(key)));
    return new Map(keys.flatMap((key, index) => (entries[index] ? [[key.slice(FAULTS.length), entries[index].value]] : [])));
  }

  /** Stores the reports one after another, so that the latest one of a projection is kept. */
  private async recordAll(): Promise<void> {
    for (const [name, fault] of this.unrecorded) {
      this.unrecorded.delete(name);
      const key = `${FAULTS}${name}`;
      await (fault === undefined ? this.keyValue.delete(key) : this.keyValue.put(key, fault, { ttlMs: FAULT_TTL_MS })).catch(
        () => undefined,
      );
    }
  }
}
