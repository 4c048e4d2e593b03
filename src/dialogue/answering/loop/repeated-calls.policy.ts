import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { CalledTool } from '../../conversation/conversation.events.js';

/**
 * Matches the calls of an attempt to those of an earlier attempt. The n-th call of an action with the same arguments repeats the
 * n-th such call that was begun, even if the model requests different calls in another order. Calls of different workflow steps
 * never match.
 */
export class RepeatedCalls {
  /** By signature, the indexes of the earlier calls, and the number of calls of the attempt so far. */
  private readonly known = new Map<string, { places: number[]; asked: number }>();
  /** The number of earlier calls whose signatures are known. Each is computed once, because calls may have large arguments. */
  private noted = 0;

  /**
   * The index of the earlier call that this call repeats; undefined if the call is new. Pass the calls of an attempt in order.
   * Earlier calls may only be added at the end of the list.
   */
  next(call: CalledTool, earlier: readonly Readonly<{ call: CalledTool }>[]): number | undefined {
    for (; this.noted < earlier.length; this.noted++) this.like(earlier[this.noted]!.call).places.push(this.noted);
    const like = this.like(call);
    return like.places[like.asked++];
  }

  private like(call: CalledTool) {
    const signature = signatureOf(call);
    const like = this.known.get(signature) ?? { places: [], asked: 0 };
    this.known.set(signature, like);
    return like;
  }
}

/** Canonical, because models write the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args, step }: CalledTool): string =>
  canonicalText([toolId, actionName, args, step ?? null]);
