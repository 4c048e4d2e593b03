import type { Client } from './client.js';
import { holdFrame } from './held-to-reference.js';

/** A user event as a tab receives it. */
export type TabEvent = Readonly<{
  type: string;
  ts: string;
  user_id: string;
  topic: string;
  scope: Record<string, unknown>;
  payload: Record<string, unknown>;
  id: string;
}>;

/** A tab that holds `GET /api/events` open and keeps what it receives. */
export class TabForTests {
  text = '';
  /** Resolves when the service or the tab has closed the connection. */
  readonly closed: Promise<void>;

  private constructor(
    readonly response: Response,
    private readonly leaving: AbortController,
  ) {
    this.closed = this.keepReading().catch(() => undefined);
  }

  /** Resolves when the service reports that the tab is connected. Fails if the service refuses. */
  static async open(client: Client, lastEventId?: string): Promise<TabForTests> {
    const leaving = new AbortController();
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await client.get('/api/events', headers, leaving.signal);
    if (response.status !== 200) throw new Error(`Refused with ${response.status}: ${await response.text()}`);
    const tab = new TabForTests(response, leaving);
    await tab.has((text) => text.includes(': connected'));
    return tab;
  }

  private waiting: (() => void)[] = [];

  private async keepReading(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.response.body!) {
        this.text += decoder.decode(bytes as Uint8Array, { stream: true });
        this.wake();
      }
    } finally {
      this.leaving.abort();
      this.wake();
    }
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  /** Resolves once the text satisfies the condition or the connection is closed. */
  async has(isSo: (text: string) => boolean): Promise<void> {
    while (!isSo(this.text) && !this.leaving.signal.aborted) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** The ids of the `id:` lines, in order. */
  get ids(): readonly string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  }

  get events(): readonly TabEvent[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as TabEvent);
  }

  /** Closes the connection. @throws UnlikeReference if it received something that the reference does not describe */
  async close(): Promise<void> {
    this.leaving.abort();
    await this.closed;
    const whole = this.text.slice(0, this.text.lastIndexOf('\n\n') + 1);
    for (const [, data] of whole.matchAll(/^data: (.*)$/gm)) holdFrame(this.response, JSON.parse(data!));
  }
}
