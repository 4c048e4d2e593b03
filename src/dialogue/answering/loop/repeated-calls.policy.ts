import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { CalledTool } from '../../conversation/conversation.events.js';

/**
 * Matches the calls of an attempt to those of an earlier attempt. The n-th call of an action with the same arguments repeats the
 * n-th such call that was begun, even if the model requests different calls in another order. Calls of different workflow steps
 * never match.
 */
export class RepeatedCalls {
  private readonly counts = new Map<string, number>();

  /**
   * The index of the earlier call that this call repeats; undefined if the call is new. Pass the calls of an attempt in order.
   */
  next(call: CalledTool, earlier: readonly Readonly<{ call: CalledTool }>[]): number | undefined {
    const signature = signatureOf(call);
    const before = this.counts.get(signature) ?? 0;
    this.counts.set(signature, before + 1);
    const same = [...earlier.keys()].filter((place) => signatureOf(earlier[place]!.call) === signature);
    return same[before];
  }
}

/** Canonical, because models write the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args, step }: CalledTool): string =>
  canonicalText([toolId, actionName, args, step ?? null]);
