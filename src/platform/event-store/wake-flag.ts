/** Wakes a follower. It stays set until it is muted, so that no wake-up between reading and waiting is missed. */
export class WakeFlag {
  private rung = false;
  private answer: (() => void) | undefined;

  readonly ring = (): void => {
    this.rung = true;
    this.answer?.();
  };

  mute(): void {
    this.rung = false;
  }

  /** Resolves when the flag is or becomes set, or after `withinMs` milliseconds. */
  async rings(withinMs?: number): Promise<void> {
    if (this.rung) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.answer = resolve;
      if (withinMs !== undefined) timer = setTimeout(resolve, withinMs);
    });
    this.answer = undefined;
    clearTimeout(timer);
  }
}
