/** What may happen to an append: the write itself, and its answer. */
export type AppendFault = Readonly<{
  /** Whether the events are in the log all the same. */
  written: boolean;
  /** What the client gets instead of the answer. */
  answer: 'nothing' | 'timeout' | 'busy' | 'unknown' | 'unavailable' | 'not-leader' | 'disconnect';
}>;

/** What may happen to a read or a subscription once it has given so many messages. */
export type ReadFault = Readonly<{
  after: number;
  then: 'nothing' | 'unavailable' | 'not-leader' | 'disconnect' | 'too-slow' | 'end';
}>;

/** The trouble a server is in. All of it is off until a test says otherwise. */
export class Faults {
  /** Asked for every append that arrives. */
  onAppend: ((stream: string) => AppendFault | undefined) | undefined;
  /** Asked for every read and subscription that starts; `undefined` as the stream is the whole log. */
  onRead: ((stream: string | undefined, subscription: boolean) => ReadFault | undefined) | undefined;
  /** How long every append and read waits before it starts. */
  delayMs = 0;
  /** Where the leader is, when this server is not. */
  leader: Readonly<{ host: string; port: number }> | undefined;
  /** Refuses every call, as a server does that is starting or stopping. */
  unavailable = false;
  /** Refuses every call for good. */
  refuse: 'access-denied' | undefined;

  clear(): void {
    this.onAppend = undefined;
    this.onRead = undefined;
    this.delayMs = 0;
    this.leader = undefined;
    this.unavailable = false;
    this.refuse = undefined;
  }

  /** The next so many appends suffer this, the ones after them nothing. */
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
