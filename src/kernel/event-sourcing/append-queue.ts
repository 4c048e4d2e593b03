import type { Timing } from '../timing.js';

/** Callers of one process that wait for one stream, at most. One more does not wait: it races. */
export const QUEUE_LENGTH_MAX = 1_000;

/** After so long without progress a caller keeps the next one waiting no more. */
export const QUEUE_STALL_MS = 1_000;

/** How a caller came to its place in front. */
export type Place = Readonly<{
  /** Others of this process were there before. */
  waited: boolean;
  /** Notes that the store answers: callers that wait need not race yet. */
  progressed: () => void;
}>;

/** One in line: the one in front calls the next, one beside it calls none. */
type Caller = { stands: 'in line' | 'in front' | 'beside'; called?: AbortController };

type Line = { readonly waiting: Set<Caller>; front: Caller; progressedAt: number; letGoNext: number };

/**
 * Callers of one process that append to the same stream go one after the other, first come first served, instead of making
 * each other lose. While none that has gone gets anywhere, others follow, each time twice as many: all at once, they would
 * make a slow machine slower still. Nothing rests on it: who has waited too long, or finds the line full, goes at the same
 * time as others, and the expected revision decides.
 */
export class AppendQueue {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly timing: Timing) {}

  /** Waits for the stream's line to come to this caller, for `patienceMs` at most, and does the work. */
  async run<T>(stream: string, patienceMs: number, work: (place: Place) => Promise<T>): Promise<T> {
    const caller: Caller = { stands: 'in line' };
    const line = this.lines.get(stream);
    if (!line) {
      const own: Line = { waiting: new Set(), front: caller, progressedAt: this.timing.elapsedMs(), letGoNext: 1 };
      this.lines.set(stream, own);
      return this.go(stream, own, caller, false, work);
    }
    if (line.waiting.size >= QUEUE_LENGTH_MAX) return work({ waited: false, progressed: () => undefined });
    await this.wait(line, caller, patienceMs);
    return this.go(stream, line, caller, true, work);
  }

  private async go<T>(
    stream: string,
    line: Line,
    caller: Caller,
    waited: boolean,
    work: (place: Place) => Promise<T>,
  ): Promise<T> {
    const progressed = () => {
      line.progressedAt = this.timing.elapsedMs();
      line.letGoNext = 1;
    };
    try {
      return await work({ waited, progressed });
    } finally {
      progressed();
      if (line.front === caller && !this.callNext(line)) this.lines.delete(stream);
    }
  }

  /** Whether there was one to take the place in front. */
  private callNext(line: Line): boolean {
    const [next] = line.waiting;
    if (!next) return false;
    line.front = next;
    line.progressedAt = this.timing.elapsedMs();
    call(line, next, 'in front');
    return true;
  }

  private letGo(line: Line): void {
    const beside = line.letGoNext - 1;
    line.letGoNext *= 2;
    this.callNext(line);
    for (const caller of [...line.waiting].slice(0, beside)) call(line, caller, 'beside');
  }

  private async wait(line: Line, caller: Caller, patienceMs: number): Promise<void> {
    const givingUpAt = this.timing.elapsedMs() + patienceMs;
    const called = (caller.called = new AbortController());
    line.waiting.add(caller);
    while (caller.stands === 'in line') {
      const now = this.timing.elapsedMs();
      if (now >= givingUpAt) call(line, caller, 'beside');
      else if (now >= line.progressedAt + QUEUE_STALL_MS) this.letGo(line);
      else await this.timing.pause(Math.min(givingUpAt, line.progressedAt + QUEUE_STALL_MS) - now, called.signal);
    }
  }
}

function call(line: Line, caller: Caller, place: 'in front' | 'beside'): void {
  line.waiting.delete(caller);
  caller.stands = place;
  // With a reason of its own, no error is made for it.
  caller.called?.abort(place);
}
