import { SIGNAL_BYTES_MAX, Signals } from '../../../kernel/messaging/signals.js';

type Listener = Readonly<{ onSignal: (payload: string) => void }>;

/** Warns of a failed listener. It has lost a signal, which is harmless. */
export const warnOfListener = (error: unknown): void => process.emitWarning(error instanceof Error ? error : String(error));

/** Signals within one process. They are delivered in order, after the publisher's current step. */
export class InProcessSignals extends Signals {
  readonly healthy = true;
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly onListenerError: (error: unknown) => void = warnOfListener) {
    super();
  }

  publish(subject: string, payload: string): void {
    const set = this.listeners.get(subject);
    if (!set || Buffer.byteLength(payload) > SIGNAL_BYTES_MAX) return;
    const present = [...set];
    queueMicrotask(() => {
      for (const listener of present) if (set.has(listener)) this.call(listener, payload);
    });
  }

  subscribe(subject: string, onSignal: (payload: string) => void): () => void {
    const listener: Listener = { onSignal };
    const set = this.listeners.get(subject) ?? new Set();
    this.listeners.set(subject, set.add(listener));
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.listeners.get(subject) === set) this.listeners.delete(subject);
    };
  }

  /** The number of subjects with listeners. */
  get subjects(): number {
    return this.listeners.size;
  }

  private call(listener: Listener, payload: string): void {
    try {
      listener.onSignal(payload);
    } catch (error) {
      this.onListenerError(error);
    }
  }
}
