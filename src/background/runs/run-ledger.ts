import type { RecordedEffect, EffectLedger } from '../../dialogue/answering/runner/headless-answering.port.js';
import { RepeatedCalls } from '../../dialogue/answering/loop/repeated-calls.policy.js';
import type { CalledTool, CallEndStatus } from '../../dialogue/conversation/conversation.events.js';
import type { Command, Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { FinishEffect, StartEffect } from './run.commands.js';
import type { Run } from './run.decider.js';
import type { EffectNumber } from './run.events.js';
import { RUN_PATIENCE_MS } from './run.policy.js';

/** Records the calls with effects of an attempt. A call that an earlier attempt began is not begun again. */
export class RunLedger implements EffectLedger {
  private readonly repeated = new RepeatedCalls();
  private readonly effectNumbers = new Map<string, EffectNumber>();

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly ids: Readonly<{ runId: string; attempt: number }>,
    private readonly cause: Cause,
    /** The state of the run that this attempt last read or wrote. */
    private folded: Folded<Run>,
  ) {}

  /** @throws Rejection run-attempt-superseded if another attempt has begun since */
  readonly begin = async (call: CalledTool): Promise<RecordedEffect | undefined> => {
    const before = this.repeated.next(call, this.folded.state.effects);
    if (before !== undefined) return this.folded.state.effects[before]!;
    const { runId, attempt } = this.ids;
    await this.append((known) => new StartEffect(runId, attempt, call, known, this.cause));
    this.effectNumbers.set(call.callId, this.folded.state.effects.length - 1);
    return undefined;
  };

  readonly finish = async (callId: string, status: CallEndStatus, result: string): Promise<void> => {
    const effect = this.effectNumbers.get(callId)!;
    await this.append((known) => new FinishEffect(this.ids.runId, effect, { status, result }, known, this.cause));
  };

  private async append(command: (known: Folded<Run>) => Command<Folded<Run>>): Promise<void> {
    this.folded = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.commands.execute(command(this.folded)));
  }
}
