/** A fault of an append: whether the write happens, and how it is answered. */
export type AppendFault = Readonly<{
  /** Whether the events are written to the log despite the fault. */
  written: boolean;
  /** What the client gets instead of a success. */
  answer: 'nothing' | 'timeout' | 'busy' | 'unknown' | 'unavailable' | 'not-leader' | 'disconnect';
}>;

/** What happens to a read or a subscription after it has sent `after` messages. */
export type ReadFault = Readonly<{
  after: number;
  then: 'nothing' | 'unavailable' | 'not-leader' | 'disconnect' | 'too-slow' | 'end';
}>;

/** The faults of a server. All are off until a test sets them. */
export class Faults {
  /** Called for every append that arrives. */
  onAppend: ((stream: string) => AppendFault | undefined) | undefined;
  /** Called for every read and subscription that starts. `stream` is undefined for the whole log. */
  onRead: ((stream: string | undefined, subscription: boolean) => ReadFault | undefined) | undefined;
  /** The delay before every append and read. */
  delayMs = 0;
  /** The address of the leader if this server is not the leader. */
  leader: Readonly<{ host: string; port: number }> | undefined;
  /** Refuses every call, like a server that starts or stops. */
  unavailable = false;
  /** Refuses every call permanently. */
  refuse: 'access-denied' | undefined;

  clear(): void {
    this.onAppend = undefined;
    this.onRead = undefined;
    this.delayMs = 0;
    this.leader = undefined;
    this.unavailable = false;
    this.refuse = undefined;
  }

  /** Applies the fault to the next `count` appends. */
  nextAppends(count: number, fault: AppendFault): void {
    let left = count;
    this.onAppend = () => (left-- > 0 ? fault : undefined);
  }

  nextReads(count: number, fault: ReadFault): void {
    let left = count;
    this.onRead = () => (left-- > 0 ? fault : undefined);
  }

  async delay(): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
  }
}
