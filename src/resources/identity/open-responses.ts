import type { ServerResponse } from 'node:http';
import type { Signals } from '../../kernel/messaging/signals.js';
import type { Timing } from '../../kernel/timing.js';
import { endEventStream } from '../../platform/http/sse.js';
import { type Caller, type DeviceCaller, CREDENTIAL_ENDED } from './caller.js';
import { nameOf, type RevocableCredential, type RevocableCredentials, revocableOf } from './revocable-credentials.js';

/** How often the stores of credentials are polled while a response is open, because signals may be lost. */
export const CHECKED_EVERY_MS = 750;

/** A credential with the open responses that were requested with it. */
type Opened = { readonly credential: RevocableCredential; readonly responses: Set<ServerResponse>; isBeingChecked: boolean };

/** The open responses of this process, by credential. When a credential ends, its responses are ended. */
export class OpenResponses {
  private readonly open = new Map<string, Opened>();
  private stop: (() => void) | undefined;

  constructor(
    private readonly credentials: Pick<RevocableCredentials, 'areOver'>,
    private readonly timing: Timing,
    signals: Signals,
  ) {
    signals.subscribe(CREDENTIAL_ENDED, (endedId) => this.check(({ credential }) => credential.id === endedId));
  }

  /** Ends the response when the caller's credential ends. */
  add(caller: Caller | DeviceCaller, response: ServerResponse): void {
    const credential = revocableOf(caller);
    if (!credential || response.destroyed || response.writableEnded) return;
    const name = nameOf(credential);
    const opened = this.open.get(name) ?? { credential, responses: new Set(), isBeingChecked: false };
    if (opened.responses.has(response)) return;
    this.open.set(name, opened);
    opened.responses.add(response);
    response.once('close', () => this.remove(opened, response));
    this.stop ??= this.timing.every(CHECKED_EVERY_MS, () => this.check(({ isBeingChecked }) => !isBeingChecked));
  }

  /** Exempts a response from being ended with its credential. */
  spare(response: ServerResponse): void {
    for (const opened of this.open.values()) this.remove(opened, response);
  }

  private check(isDue: (opened: Opened) => boolean): void {
    const due = [...this.open.values()].filter(isDue);
    const answers = this.credentials.areOver(due.map(({ credential }) => credential));
    due.forEach((opened, index) => {
      opened.isBeingChecked = true;
      void answers[index]!.then((isOver) => {
        opened.isBeingChecked = false;
        if (isOver) this.end(opened);
      });
    });
  }

  /** Ends an event stream between two frames, without a further frame. Aborts any other response. */
  private end(opened: Opened): void {
    for (const response of opened.responses) {
      this.remove(opened, response);
      if (!endEventStream(response)) response.destroy();
    }
  }

  private remove(opened: Opened, response: ServerResponse): void {
    const name = nameOf(opened.credential);
    opened.responses.delete(response);
    if (opened.responses.size === 0 && this.open.get(name) === opened) this.open.delete(name);
    if (this.open.size > 0) return;
    this.stop?.();
    this.stop = undefined;
  }
}
