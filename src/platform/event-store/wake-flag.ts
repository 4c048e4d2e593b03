/** One follower's bell. It remembers that it was rung until it is muted, so that nothing is missed between look and wait. */
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

  /** Resolves when it rings (or has rung), at the latest after so many milliseconds. */
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
