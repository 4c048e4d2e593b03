import type { StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { type Answer, eventsIn } from './answer.js';
import type { Cursor } from './reading.js';
import { readStream, readStreamEnd } from './read-requests.js';
import type { ReadRequest } from './stubs.js';

/** Reads up to `left` events of a stream in one direction, from a revision or from the start of that direction. */
export class StreamRead implements Cursor<readonly StoredEvent[]> {
  constructor(
    private readonly stream: string,
    private from: number | undefined,
    private readonly backwards: boolean,
    private left: number,
  ) {}

  /** True when nothing remains to read. */
  get done(): boolean {
    return this.left <= 0 || (this.from !== undefined && this.from < 0);
  }

  request(): ReadRequest {
    return readStream(this.stream, this.from, this.backwards, this.left);
  }

  take(answers: readonly Answer[]): readonly StoredEvent[] | undefined {
    const events = eventsIn(answers);
    const last = events.at(-1);
    if (!last) return undefined;
    this.left -= events.length;
    this.from = last.revision + (this.backwards ? -1 : 1);
    return events;
  }
}

/** Reads the last revision of a stream. Returns nothing if the stream does not exist. */
export class StreamEnd implements Cursor<number> {
  constructor(private readonly stream: string) {}

  request(): ReadRequest {
    return readStreamEnd(this.stream);
  }

  take(answers: readonly Answer[]): number | undefined {
    for (const answer of answers) if (answer.kind === 'stream-end') return answer.revision;
    return undefined;
  }
}

/** Reads the newest metadata of a stream from its metastream. */
export class MetadataRead implements Cursor<{ revision: number; json: Readonly<Record<string, unknown>> }> {
  constructor(private readonly metastream: string) {}

  request(): ReadRequest {
    return readStream(this.metastream, undefined, true, 1);
  }

  take(answers: readonly Answer[]) {
    const newest = answers.find((answer) => answer.kind === 'event')?.event;
    return newest && { revision: newest.revision, json: JSON.parse(newest.data) as Record<string, unknown> };
  }
}
