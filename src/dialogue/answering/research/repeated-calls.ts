import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { CalledTool } from '../../conversation/conversation.events.js';
import { OUTCOME_UNKNOWN_TEXT, outcomeUnknown } from '../../conversation/tool-call.policy.js';
import { type CallEnd, type CallHistory, finishedAs } from '../loop/call-ends.policy.js';
import type { CallLedger } from '../loop/tool-round.js';

/**
 * A ledger under which a step that is done again does nothing to the world again: the n-th call of an action with these very
 * arguments is the n-th that a producer which is gone has begun, and ends as that one did.
 */
export function withoutRepetition(ledger: CallLedger, { begun, finished }: CallHistory, done: ReadonlySet<string>): CallLedger {
  const left = [...begun.values()].filter(({ callId }) => !done.has(callId));
  return {
    finish: ledger.finish,
    begin: async (call): Promise<CallEnd | void> => {
      const signature = signatureOf(call);
      const at = left.findIndex((before) => signatureOf(before) === signature);
      const [before] = at === -1 ? [] : left.splice(at, 1);
      if (!before) return ledger.begin(call);
      const end = finished.get(before.callId);
      if (end) return finishedAs(call, end);
      return { record: outcomeUnknown(call), text: OUTCOME_UNKNOWN_TEXT };
    },
  };
}

/** Models name the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args }: CalledTool): string => canonicalText([toolId, actionName, args]);
