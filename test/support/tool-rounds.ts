import { WAITING } from '../../src/dialogue/answering/loop/background-calls.port.js';
import { interactive } from '../../src/dialogue/answering/loop/execution-mode.policy.js';
import { OfferedTools } from '../../src/dialogue/answering/loop/offered-tools.js';
import { type RoundDelta, type RoundSetting, ToolRound } from '../../src/dialogue/answering/loop/tool-round.js';
import type { ClientTool } from '../../src/dialogue/conversation/conversation.events.js';
import type { ToolCallRecord } from '../../src/dialogue/conversation/tool-call.policy.js';
import type { ModelToolCall } from '../../src/resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { offeredAction, type Ran, ToolsForTests } from './tool-turns.js';
import { cause } from './turns.js';

const writeAction = (name: string, more: Partial<OfferedAction> = {}) => offeredAction(name, { access: 'write', ...more });
const ROUND_ACTIONS = [
  offeredAction('read_a'),
  offeredAction('read_b'),
  writeAction('write_a'),
  writeAction('write_b'),
  writeAction('ask_first', { requiresApproval: true }),
  writeAction('as_owner', { ownerCredentials: true, requiresApproval: true }),
  offeredAction('read_as_owner', { ownerCredentials: true }),
];
const PICK: ClientTool = { name: 'pick', description: '', parameters: {} };

export const modelCall = (id: string, name: string, args = '{}'): ModelToolCall => ({ id, name, arguments: args });

/** A round over tools that the test defines. `happened` lists runs, ledger entries and shown records in their order. */
export function scriptedRound(does: (ran: Ran) => unknown = ({ name }) => `${name} done`, more: Partial<RoundSetting> = {}) {
  const happened: string[] = [];
  const tools = new ToolsForTests(ROUND_ACTIONS, async (ran) => {
    happened.push(`run ${ran.name}`);
    return does(ran);
  });
  const controller = new AbortController();
  const toolRound = new ToolRound({
    offered: new OfferedTools(ROUND_ACTIONS, [PICK]),
    tools,
    writeAllowlist: null,
    executionMode: interactive(WAITING),
    context: {
      userId: 'alice',
      agentId: 'a1',
      conversationId: 'c1',
      turnId: 't1',
      sources: [],
      cause,
      signal: controller.signal,
    },
    ledger: {
      begin: async ({ callId }) => void happened.push(`begin ${callId}`),
      finish: async (callId, status, result) => void happened.push(`finish ${callId} ${status} ${result}`),
    },
    signal: controller.signal,
    recordsBytes: 2,
    recordsCount: 0,
    unknownCalls: 0,
    resultCharactersMax: 70_000,
    ...more,
  });
  const deltas: RoundDelta[] = [];
  const records = () => deltas.flatMap((delta) => (delta.type === 'tool-call' ? [delta.record] : []));
  const run = async (...asked: ModelToolCall[]): Promise<readonly ToolCallRecord[]> => {
    for await (const delta of toolRound.run(asked)) {
      deltas.push(delta);
      if (delta.type === 'tool-call') happened.push(`${delta.record.status} ${delta.record.call_id}`);
    }
    return records();
  };
  return { toolRound, tools, controller, happened, deltas, records, run };
}
