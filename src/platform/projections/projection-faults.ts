import type { KeyValue } from '../../kernel/key-value.js';

const FAULTS = 'projection-faults.';
/** A projection that keeps failing says so again well within this time. */
export const FAULT_TTL_MS = 60_000;
const CHARACTERS_MAX = 2_000;

/**
 * Why projections fail, as told by the process that runs them to the processes that only read what they write. It is told
 * with every failure, so what does not get through is told soon again, and what is not taken back runs out.
 */
export class ProjectionFaults {
  private readonly unrecorded = new Map<string, string | undefined>();
  private recording: Promise<void> | undefined;

  constructor(private readonly keyValue: KeyValue) {}

  /** What has become of a projection: it failed for this reason, or (undefined) it gets on again. */
  tell(name: string, fault: string | undefined): void {
    this.unrecorded.set(name, fault?.slice(0, CHARACTERS_MAX));
    this.recording ??= this.recordAll().finally(() => (this.recording = undefined));
  }

  /** By the names of projections. @throws KeyValueUnavailable */
  async all(): Promise<ReadonlyMap<string, string>> {
    const keys = await this.keyValue.keys(FAULTS);
    const entries = await Promise.all(keys.map((key) => this.keyValue.get(key)));
    return new Map(keys.flatMap((key, index) => (entries[index] ? [[key.slice(FAULTS.length), entries[index].value]] : [])));
  }

  /** One after the other, so that the last word about a projection is what stays. */
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
