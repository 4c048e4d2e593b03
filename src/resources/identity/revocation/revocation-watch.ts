import { Injectable } from '@nestjs/common';
import { Signals } from '../../../kernel/signals.js';
import { Timing } from '../../../kernel/timing.js';
import type { RevocableCredential } from './revocable-credential.js';

/** Signals may be lost, or not reach other processes: so often the stores are asked while something is read with a credential. */
export const CHECKED_EVERY_MS = 750;

type Close = () => void;

/** A credential with which something is read in this process: its readers share one subscription and one timer. */
class Watched {
  readonly readers = new Set<Close>();
  private readonly unsubscribe: () => void;
  private cancel: () => void;
  private isOver = false;

  constructor(
    private readonly credential: RevocableCredential,
    signals: Signals,
    private readonly timing: Timing,
    private readonly forget: () => void,
  ) {
    this.unsubscribe = signals.subscribe(credential.subject, () => void this.check());
    this.cancel = this.checkLater();
  }

  private checkLater(): () => void {
    return this.timing.after(CHECKED_EVERY_MS, () => void this.check().finally(() => this.goOn()), { unref: true });
  }

  private goOn(): void {
    if (!this.isOver) this.cancel = this.checkLater();
  }

  private async check(): Promise<void> {
    // A store that is away says nothing: the next check asks again.
    const isValid = await this.credential.isValid().catch(() => true);
    if (isValid || this.isOver) return;
    this.end();
    for (const close of this.readers) close();
  }

  end(): void {
    this.isOver = true;
    this.cancel();
    this.unsubscribe();
    this.forget();
  }
}

/** Closes what is read with a credential soon after that has ended, in whichever process it was ended. */
@Injectable()
export class RevocationWatch {
  private readonly watched = new Map<string, Watched>();

  constructor(
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {}

  /** Calls `close` once when the credential has ended, unless the returned function is called before. */
  watch(credential: RevocableCredential, close: Close): () => void {
    const key = credential.id;
    let watched = this.watched.get(key);
    if (!watched) {
      const forget = () => void (this.watched.get(key) === watched && this.watched.delete(key));
      this.watched.set(key, (watched = new Watched(credential, this.signals, this.timing, forget)));
    }
    const joined = watched;
    joined.readers.add(close);
    return () => {
      joined.readers.delete(close);
      if (joined.readers.size === 0) joined.end();
    };
  }
}
