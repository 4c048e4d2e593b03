import { OUTCOME_UNKNOWN_TEXT, outcomeUnknown } from '../../../conversation/tool-call.policy.js';
import type { CalledTool, ToolCallFinished } from '../../../conversation/conversation.events.js';
import { finishedAs } from '../../loop/call-ends.policy.js';
import { RepeatedCalls } from '../../loop/repeated-calls.policy.js';
import type { CallLedger } from '../../loop/tool-round.js';
import type { Transcript } from '../../loop/transcript.js';
import type { StepNumber } from '../run/workflow-run.events.js';

type EarlierCall = Readonly<{ call: CalledTool; end: ToolCallFinished['data'] | undefined }>;

/**
 * Records the calls with effects of a step. If a former producer has begun the same call for the same step, the call does not run
 * again and gets the result of the earlier one.
 */
export function stepLedger({ begin, finish }: CallLedger, step: StepNumber, transcript: Transcript): CallLedger {
  const earlier = callsCutOff(transcript, step);
  const repeated = new RepeatedCalls();
  return {
    begin: async (asked) => {
      const call = { ...asked, step };
      const place = repeated.next(call, earlier);
      if (place === undefined) return begin(call);
      const { end } = earlier[place]!;
      return end ? finishedAs(asked, end) : { record: outcomeUnknown(asked), text: OUTCOME_UNKNOWN_TEXT };
    },
    finish,
  };
}

/** The started calls of the step that its model does not know. It knows calls before a pause and calls that were decided on. */
function callsCutOff({ calls: { started, finished }, resumption }: Transcript, step: StepNumber): readonly EarlierCall[] {
  const { toolCalls = [], calls = [] } = resumption?.paused ?? {};
  const known = new Set<unknown>([...toolCalls.map((record) => record['call_id']), ...calls.map(({ callId }) => callId)]);
  return [...started.values()]
    .filter((call) => call.step === step && !known.has(call.callId))
    .map((call) => ({ call, end: finished.get(call.callId) }));
}
