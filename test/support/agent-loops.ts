import { AgentLoop, beginning, type LoopDelta, type LoopState } from '../../src/dialogue/answering/loop/agent-loop.js';
import { WAITING } from '../../src/dialogue/answering/loop/background-calls.port.js';
import { type ExecutionMode, interactive } from '../../src/dialogue/answering/loop/execution-mode.policy.js';
import type { Transcript } from '../../src/dialogue/answering/loop/transcript.js';
import type { TurnSettings } from '../../src/dialogue/conversation/conversation.events.js';
import { withToolCalls } from '../../src/dialogue/conversation/tool-call.policy.js';
import { systemIds } from '../../src/platform/system-ids.js';
import type {
  ChatMessage,
  ModelChunk,
  ModelDescription,
  ModelRequest,
} from '../../src/resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { MODEL, offeredAction, type Ran, roundOf, ScriptedModels, ToolboxForTests, ToolsForTests } from './tool-turns.js';
import { turnSettings } from './turn-settings.js';
import { cause } from './turns.js';

export const LOOP_ACTIONS = [
  offeredAction('read_it'),
  offeredAction('write_it', { access: 'write' }),
  offeredAction('ask_first', { access: 'write', requiresApproval: true }),
];
export const MESSAGES: readonly ChatMessage[] = [{ role: 'user', content: 'Why?' }];
export const PICK = { name: 'pick', description: '', parameters: {} };

export type LoopSetup = Partial<{
  actions: readonly OfferedAction[];
  does: (ran: Ran) => unknown;
  model: Partial<ModelDescription>;
  settings: Partial<TurnSettings>;
  transcript: Partial<Transcript>;
  state: LoopState;
  records: Readonly<Record<string, unknown>>[];
  executionMode: ExecutionMode;
}>;

/** Runs the loop with a scripted model and collects its deltas. */
export async function runLoop(script: (request: ModelRequest) => readonly ModelChunk[], given: LoopSetup = {}) {
  const model = { ...MODEL, ...given.model };
  const tools = new ToolsForTests(given.actions ?? LOOP_ACTIONS, given.does);
  const models = new ScriptedModels((request) => script(request), model);
  const loop = new AgentLoop(models, new ToolboxForTests(tools), systemIds);
  const begun: string[] = [];
  const controller = new AbortController();
  let records: readonly Readonly<Record<string, unknown>>[] = given.records ?? [];
  const transcript = {
    ownerId: 'alice',
    cause,
    asked: { conversationId: 'c1', turnId: 't1', settings: turnSettings({ modelId: model.id, ...given.settings }) },
    resumption: null,
    calls: { started: new Map(), finished: new Map() },
    waited: new Set(),
    ...given.transcript,
  } as unknown as Transcript;
  const deltas: LoopDelta[] = [];
  const request = { modelId: model.id, question: 'Why?', documents: [] };
  const run = {
    signal: controller.signal,
    executionMode: given.executionMode ?? interactive(WAITING),
    records: () => records,
    fencingToken: 1,
    shown: [],
    ledger: { begin: async ({ callId }: { callId: string }) => void begun.push(callId), finish: async () => undefined },
  };
  for await (const delta of loop.run({ transcript, model, tools, request }, given.state ?? beginning(MESSAGES), run)) {
    deltas.push(delta);
    if (delta.type === 'tool-call') records = withToolCalls(records, [delta.record]);
  }
  const ended = deltas.flatMap((delta) =>
    delta.type === 'tool-call' && delta.record.status !== 'pending' ? [delta.record] : [],
  );
  const pause = deltas.find((delta) => delta.type === 'pause');
  return { deltas, ended, pause, tools, begun, requests: models.requests, types: deltas.map(({ type }) => type) };
}

/** A model that answers each round with these chunks. */
export const inRounds =
  (...all: (readonly ModelChunk[])[]) =>
  (request: ModelRequest) =>
    all[roundOf(request)]!;
