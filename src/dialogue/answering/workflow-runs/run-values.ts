import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Blobs, bytesOf } from '../../../kernel/blobs.js';
import type { StoredValue, StoredValues, WorkflowRunId } from './run/workflow-run.events.js';

/** Maximum size of a value, as JSON, that an event contains. A larger value is stored as a blob. */
export const VALUE_BYTES_MAX = 64 * 1024;
/** Maximum size of all values that one event contains. Further values are stored as blobs. */
const INLINE_BYTES_MAX = 256 * 1024;

/** Contains the run's id, so that no other run has the same blob and it can be deleted with its run. */
type Own = Readonly<{ workflowRunId: WorkflowRunId; value: unknown }>;

/** Stores the values of runs: small ones in their events, large ones as blobs. */
@Injectable()
export class RunValues {
  constructor(private readonly blobs: Blobs) {}

  /** Stores the values of one event. */
  keeping(workflowRunId: WorkflowRunId): KeptValues {
    return new KeptValues(this.blobs, workflowRunId);
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(stored: StoredValue): Promise<unknown> {
    if ('value' in stored) return stored.value;
    const text = Buffer.from(await bytesOf(this.blobs, stored.blob)).toString();
    return (JSON.parse(text) as Own).value;
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recallAll(stored: StoredValues): Promise<Readonly<Record<string, unknown>>> {
    const entries = Object.entries(stored).map(async ([name, value]) => [name, await this.recall(value)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }
}

/** Stores the values of one event and tracks their total size, because together they have to fit the event. */
export class KeptValues {
  private inlineBytes = 0;

  constructor(
    private readonly blobs: Blobs,
    private readonly workflowRunId: WorkflowRunId,
  ) {}

  /** @throws BlobsUnavailable */
  async keep(value: unknown): Promise<StoredValue> {
    const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
    if (bytes <= VALUE_BYTES_MAX && this.inlineBytes + bytes <= INLINE_BYTES_MAX) {
      this.inlineBytes += bytes;
      return { value: value ?? null };
    }
    const own: Own = { workflowRunId: this.workflowRunId, value };
    return { blob: await this.blobs.put(Readable.from([Buffer.from(JSON.stringify(own))])) };
  }

  /** Null for an empty text or list. @throws BlobsUnavailable */
  async keepUnlessEmpty(value: string | readonly unknown[]): Promise<StoredValue | null> {
    return value.length === 0 ? null : this.keep(value);
  }

  /** @throws BlobsUnavailable */
  async keepAll(values: Readonly<Record<string, unknown>>): Promise<StoredValues> {
    const kept: Record<string, StoredValue> = {};
    for (const [name, value] of Object.entries(values)) kept[name] = await this.keep(value);
    return kept;
  }
}
