import type { EffectKnown, EffectLedger } from '../../dialogue/answering/runner/unattended.port.js';
import type { CalledTool } from '../../dialogue/conversation/conversation.events.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, type Streams } from '../../kernel/event-sourcing/streams.js';
import { RepeatedEffects } from './repeated-effects.policy.js';
import { finishEffect, type Run, run, startEffect } from './run.decider.js';
import { type EffectNumber, runStream } from './run.events.js';
import { RUN_PATIENCE_MS } from './run.policy.js';

/** What an attempt states of its calls with effects; whatever an earlier attempt began stands, and is not begun again. */
export class RunLedger implements EffectLedger {
  private readonly repeated = new RepeatedEffects();
  private readonly begun = new Map<string, EffectNumber>();

  constructor(
    private readonly streams: Streams,
    private readonly ids: Readonly<{ runId: string; attempt: number }>,
    private readonly cause: Cause,
    /** The run as far as this attempt has read and written it. */
    private folded: Folded<Run>,
  ) {}

  /** @throws Rejection run-attempt-superseded when another attempt has begun since */
  readonly begin = async (call: CalledTool): Promise<EffectKnown | undefined> => {
    const before = this.repeated.next(call, this.folded.state.effects);
    if (before !== undefined) return this.folded.state.effects[before]!;
    const { runId, attempt } = this.ids;
    await this.state(startEffect(runId, attempt, call));
    this.begun.set(call.callId, this.folded.state.effects.length - 1);
    return undefined;
  };

  readonly finish = async (callId: string, status: 'completed' | 'error', result: string): Promise<void> => {
    await this.state(finishEffect(this.ids.runId, this.begun.get(callId)!, status, result));
  };

  private async state(decide: ReturnType<typeof startEffect>): Promise<void> {
    this.folded = await this.streams.outlasting(RUN_PATIENCE_MS, () =>
      this.streams.record(runStream(this.ids.runId), run, decide, this.cause, this.folded),
    );
  }
}
