import type { CalledTool } from '../../dialogue/conversation/conversation.events.js';
import { canonicalText } from '../../kernel/event-sourcing/fingerprints.js';
import type { Effect } from './run.decider.js';
import type { EffectNumber } from './run.events.js';

/**
 * Which calls of an attempt an earlier one has made already: the n-th call of an action with these very arguments is the
 * n-th that was begun in the run, in whatever order the model asks for different ones this time.
 */
export class RepeatedEffects {
  private readonly counts = new Map<string, number>();

  /** The effect that this call, the next of the attempt, repeats; undefined for one that was never begun. */
  next(call: CalledTool, effects: readonly Effect[]): EffectNumber | undefined {
    const signature = signatureOf(call);
    const before = this.counts.get(signature) ?? 0;
    this.counts.set(signature, before + 1);
    const same = [...effects.keys()].filter((number) => signatureOf(effects[number]!.call) === signature);
    return same[before];
  }
}

/** Models name the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args }: CalledTool): string => canonicalText([toolId, actionName, args]);
