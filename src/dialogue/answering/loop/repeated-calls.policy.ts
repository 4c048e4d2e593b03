import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { CalledTool } from '../../conversation/conversation.events.js';

/**
 * Which calls an earlier attempt has made already: the n-th call of an action with these very arguments is the n-th that was begun,
 * in whatever order the model asks for different ones this time. Calls of different steps of a workflow are different calls.
 */
export class RepeatedCalls {
  private readonly counts = new Map<string, number>();

  /** The place of the earlier call that this one, the next of the attempt, repeats; undefined for one that was never begun. */
  next(call: CalledTool, earlier: readonly Readonly<{ call: CalledTool }>[]): number | undefined {
    const signature = signatureOf(call);
    const before = this.counts.get(signature) ?? 0;
    this.counts.set(signature, before + 1);
    const same = [...earlier.keys()].filter((place) => signatureOf(earlier[place]!.call) === signature);
    return same[before];
  }
}

/** Models name the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args, step }: CalledTool): string =>
  canonicalText([toolId, actionName, args, step ?? null]);
