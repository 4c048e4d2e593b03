import type { Timing } from '../timing.js';

/** Maximum number of callers of this process that wait for one stream. A further caller does not wait and races with the others. */
export const QUEUE_LENGTH_MAX = 1_000;

/** After this time without progress, the queue lets the next callers proceed. */
export const QUEUE_STALL_MS = 1_000;

/** How a caller reached the front of the queue. */
export type Place = Readonly<{
  /** Other callers of this process were ahead of it. */
  waited: boolean;
  /** Reports that the store answers, so the waiting callers need not race yet. */
  progressed: () => void;
}>;

/** A queued caller. The caller in front lets the next one proceed when it is done; a caller beside it does not. */
type Caller = { place: 'in line' | 'in front' | 'beside'; called?: AbortController };

type Line = { readonly waiting: Set<Caller>; front: Caller; progressedAt: number; callsNext: number };

/**
 * A queue for each stream. Callers of this process that append to the same stream run one after another, first in, first out,
 * instead of losing races to each other. While no caller makes progress, the queue lets more of them proceed, twice as many each
 * time, because all at once would slow a busy machine further. Correctness does not depend on the queue: a caller that waited too
 * long, or that found the queue full, runs beside others, and the expected revision decides.
 */
export class AppendQueue {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly timing: Timing) {}

  /** Waits for this caller's turn, `patienceMs` at most, and runs the work. */
  async run<T>(stream: string, patienceMs: number, work: (place: Place) => Promise<T>): Promise<T> {
    const caller: Caller = { place: 'in line' };
    const line = this.lines.get(stream);
    if (!line) {
      const own: Line = { waiting: new Set(), front: caller, progressedAt: this.timing.elapsedMs(), callsNext: 1 };
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
      line.callsNext = 1;
    };
    try {
      return await work({ waited, progressed });
    } finally {
      progressed();
      if (line.front === caller && !this.callNext(line)) this.lines.delete(stream);
    }
  }

  /** Moves the next caller to the front. False if no caller waits. */
  private callNext(line: Line): boolean {
    const [next] = line.waiting;
    if (!next) return false;
    line.front = next;
    line.progressedAt = this.timing.elapsedMs();
    call(line, next, 'in front');
    return true;
  }

  private callSeveral(line: Line): void {
    const beside = line.callsNext - 1;
    line.callsNext *= 2;
    this.callNext(line);
    for (const caller of [...line.waiting].slice(0, beside)) call(line, caller, 'beside');
  }

  private async wait(line: Line, caller: Caller, patienceMs: number): Promise<void> {
    const givingUpAt = this.timing.elapsedMs() + patienceMs;
    const called = (caller.called = new AbortController());
    line.waiting.add(caller);
    while (caller.place === 'in line') {
      const now = this.timing.elapsedMs();
      if (now >= givingUpAt) call(line, caller, 'beside');
      else if (now >= line.progressedAt + QUEUE_STALL_MS) this.callSeveral(line);
      else await this.timing.pause(Math.min(givingUpAt, line.progressedAt + QUEUE_STALL_MS) - now, called.signal);
    }
  }
}

function call(line: Line, caller: Caller, place: 'in front' | 'beside'): void {
  line.waiting.delete(caller);
  caller.place = place;
  // An explicit reason saves the creation of an AbortError.
  caller.called?.abort(place);
}
