import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';
import type { CalledTool } from '../../conversation/conversation.events.js';
import { OUTCOME_UNKNOWN_TEXT, outcomeUnknown } from '../../conversation/tool-call.policy.js';
import { type CallEnd, type CallHistory, finishedAs } from '../loop/call-ends.policy.js';
import type { CallLedger } from '../loop/tool-round.js';

/**
 * A ledger for a repeated step, so that no side effect happens twice. The n-th call of an action with the same arguments does not
 * run if a former producer began n such calls; it ends as the n-th of those did.
 */
export function withoutRepetition(ledger: CallLedger, { started, finished }: CallHistory, done: ReadonlySet<string>): CallLedger {
  const undone = [...started.values()].filter(({ callId }) => !done.has(callId));
  const left = undone.map((call) => ({ callId: call.callId, signature: signatureOf(call) }));
  return {
    finish: ledger.finish,
    begin: async (call): Promise<CallEnd | void> => {
      const signature = signatureOf(call);
      const at = left.findIndex((before) => before.signature === signature);
      const [before] = at === -1 ? [] : left.splice(at, 1);
      if (!before) return ledger.begin(call);
      const end = finished.get(before.callId);
      if (end) return finishedAs(call, end);
      return { record: outcomeUnknown(call), text: OUTCOME_UNKNOWN_TEXT };
    },
  };
}

/** Canonical, because models write the same arguments in different orders. */
const signatureOf = ({ toolId, actionName, arguments: args }: CalledTool): string => canonicalText([toolId, actionName, args]);
