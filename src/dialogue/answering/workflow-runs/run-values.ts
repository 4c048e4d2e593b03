import { Injectable } from '@nestjs/common';
import { Blobs } from '../../../kernel/blobs.js';
import { INLINE_BYTES_MAX, jsonBytes, OwnBlobs } from '../../../kernel/own-blobs.js';
import type { StoredValue, StoredValues, WorkflowRunId } from './run/workflow-run.events.js';

/** Maximum size of all values that one event contains. Further values are stored as blobs. */
const ALL_INLINE_BYTES_MAX = 256 * 1024;

/** Stores the values of runs: small ones in their events, large ones as blobs. */
@Injectable()
export class RunValues {
  private readonly own: OwnBlobs;

  constructor(blobs: Blobs) {
    this.own = new OwnBlobs(blobs, 'value');
  }

  /** Stores the values of one event. */
  keeping(workflowRunId: WorkflowRunId): KeptValues {
    return new KeptValues(this.own, workflowRunId);
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(stored: StoredValue): Promise<unknown> {
    return 'value' in stored ? stored.value : this.own.recall(stored.blob);
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
    private readonly own: OwnBlobs,
    private readonly workflowRunId: WorkflowRunId,
  ) {}

  /** @throws BlobsUnavailable */
  async keep(value: unknown): Promise<StoredValue> {
    const bytes = jsonBytes(value ?? null);
    if (bytes > INLINE_BYTES_MAX || this.inlineBytes + bytes > ALL_INLINE_BYTES_MAX) {
      return { blob: await this.own.put({ workflowRunId: this.workflowRunId }, value) };
    }
    this.inlineBytes += bytes;
    return { value: value ?? null };
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
