import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { researcher, taskOf } from '../../../../test/support/researches.js';
import { offeredAction, roundOf, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { eventsOf } from '../../../../test/support/turns.js';
import { runWorkflow } from '../../../../test/support/workflow-turns.js';
import { graphOf, inARow, node } from '../../../../test/support/workflows.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { RUN_STEPS_MAX } from '../../../resources/workflows/workflow-graph.policy.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { researchStream } from '../research/research.events.js';
import { INPUT_DOCUMENTS_MAX } from './nodes/run-state.js';
import { researchIdOf, workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

const briefFrames = (frames: readonly Record<string, unknown>[]) =>
  frames.map((frame) =>
    frame['type'] === 'workflow_step' ? `${frame['node_id'] as string} ${frame['status'] as string}` : frame['type'],
  );

describe('a workflow run', () => {
  it("shows its id, then the begin and end of each node with the node's text in between", async () => {
    const { frames, recorded, run } = await runWorkflow(
      inARow([node('ask', 'agent', { prompt_template: 'Say {{query}}' })], 'Bye.'),
    );
    expect(briefFrames(frames)).toEqual([
      'message_id',
      'workflow_run',
      'start running',
      'start completed',
      'ask running',
      'answer',
      'ask completed',
      'end running',
      'answer',
      'end completed',
      'source',
      'tool_calls',
      'id',
      'end',
    ]);
    expect(frames[1]).toEqual({ type: 'workflow_run', workflow_run_id: workflowRunIdOf('t1') });
    expect(frames[2]).toEqual({
      type: 'workflow_step',
      node_id: 'start',
      node_type: 'start',
      node_title: 'The start',
      status: 'running',
    });
    expect(recorded).toEqual([
      ...['WorkflowRunStarted', 'NodeStarted', 'NodeCompleted', 'NodeStarted', 'NodeCompleted', 'NodeStarted'],
      ...['NodeCompleted', 'WorkflowRunFinished'],
    ]);
    expect([run.status, run.started!.origin]).toEqual(['completed', { kind: 'turn', conversationId: 'c1', turnId: 't1' }]);
  });

  it('shows the variables that each node changed, and the inputs with the first node', async () => {
    const { steps } = await runWorkflow(inARow([node('ask', 'agent', { output_variable: 'said', prompt_template: 'Say' })]));
    expect(steps.filter(({ status }) => status === 'completed').map(({ state_delta: delta, output }) => [delta, output])).toEqual(
      [
        [{ query: 'Why?', input_documents: [] }, null],
        [{ node_ask_output: 'Say!', said: 'Say!' }, 'Say!'],
        [{}, null],
      ],
    );
  });

  it('puts an empty line before the text of its end node if an earlier node wrote text', async () => {
    const silent = { stream_to_user: false, output_variable: 'said' };
    expect((await runWorkflow(inARow([node('ask', 'agent')], 'Bye {{query}}'))).answer).toBe('Why?!\n\nBye Why?');
    expect((await runWorkflow(inARow([node('ask', 'agent', silent)], 'I heard: {{said}}'))).answer).toBe('I heard: Why?!');
  });

  it('pins the tools of all nodes when it starts', async () => {
    const tools = new ToolsForTests([offeredAction('look')]);
    const { run } = await runWorkflow(inARow([node('ask', 'agent', { tools: ['tool-1'] })]), { tools });
    expect(run.started!.tools).toEqual([{ toolId: 'tool-1', revision: 0 }]);
    expect((await runWorkflow(inARow([node('ask', 'agent')]), { tools })).run.started!.tools).toEqual([]);
  });

  it('accepts INPUT_DOCUMENTS_MAX files of a question and names the others in a notice', async () => {
    const attachments = Array.from({ length: INPUT_DOCUMENTS_MAX + 2 }, (_, at) => ({
      id: `id-${at}`,
      filename: `${at}.pdf`,
      mimeType: 'application/pdf',
    }));
    const { frames, steps } = await runWorkflow(inARow([]), { settings: { attachments } });
    expect(frames.find(({ type }) => type === 'notice')!['notice']).toBe(
      'A workflow takes 25 files; these were left out: 25.pdf, 26.pdf',
    );
    const { input_documents: known } = steps[1]!['state_delta'] as { input_documents: object[] };
    expect(known).toHaveLength(INPUT_DOCUMENTS_MAX);
    expect(known[0]).toEqual({ ref: 'A1', attachment_id: 'id-0', filename: '0.pdf', mime_type: 'application/pdf' });
  });

  it('fails after RUN_STEPS_MAX steps', async () => {
    const nodes = [node('start', 'start'), node('a', 'note'), node('b', 'note'), node('end', 'end')];
    const { steps, run, outcome } = await runWorkflow(graphOf(nodes, 'start>a', 'a>b', 'b>a'));
    expect(run.steps).toHaveLength(RUN_STEPS_MAX);
    expect(steps.at(-1)).toMatchObject({ status: 'failed', error: expect.stringContaining('at most 50 steps') as unknown });
    expect(run.finished).toMatchObject({ status: 'failed', reason: 'step_limit' });
    expect(outcome).toMatchObject({ type: 'TurnFailed', data: { code: 'workflow_failed' } });
  });

  it('fails at a node without an outgoing edge', async () => {
    const { steps, run } = await runWorkflow(graphOf([node('start', 'start'), node('a', 'note')], 'start>a'));
    expect(briefFrames(steps)).toEqual(['start running', 'start completed', 'a running', 'a failed']);
    expect(run.finished).toMatchObject({ status: 'failed', reason: 'dead_end' });
  });

  it('fails if the graph has no start node or an edge to a missing node', async () => {
    const without = await runWorkflow(graphOf([node('end', 'end')]));
    expect(without.frames.slice(1).map(({ type, error }) => error ?? type)).toEqual([
      'workflow_run',
      'No start node found in workflow.',
      'id',
      'end',
    ]);
    expect(without.run.finished).toMatchObject({ status: 'failed', reason: 'broken_graph' });
    const nowhere = await runWorkflow(graphOf([node('start', 'start')], 'start>gone'));
    expect(nowhere.steps.at(-1)).toMatchObject({ status: 'failed', error: 'Node gone not found.' });
  });
});

describe('an agent node', () => {
  it('answers with its own prompt, model and settings', async () => {
    const { models } = await runWorkflow(
      inARow([node('ask', 'agent', { system_prompt: 'You are {{query}}', prompt_template: 'Say {{query}}', model_id: 'other' })]),
    );
    expect(models.requests[0]).toMatchObject({ modelId: 'other', question: 'Say Why?' });
    expect(models.requests[0]!.messages).toEqual([
      { role: 'system', content: 'You are Why?' },
      { role: 'user', content: 'Say Why?' },
    ]);
  });

  it('does not use the sampling parameters of the caller', async () => {
    const { models } = await runWorkflow(inARow([node('ask', 'agent')]), {
      settings: { sampling: { temperature: 2, maxTokens: 1 } },
    });
    expect(models.requests).toHaveLength(1);
    expect(models.requests[0]!.sampling).toBeUndefined();
    expect(models.requests[0]!.maxTokens).toBeUndefined();
  });

  it('without streaming shows no text, and later nodes read its text', async () => {
    const { answer, steps, outcome } = await runWorkflow(
      inARow([
        node('draft', 'agent', { stream_to_user: false, output_variable: 'draft' }),
        node('last', 'agent', { prompt_template: 'Better: {{draft}}' }),
      ]),
    );
    expect(answer).toBe('Better: Why?!!');
    expect(outcome.data['answer']).toBe('Better: Why?!!');
    expect(steps.find(({ node_id: id, status }) => id === 'draft' && status === 'completed')).toMatchObject({ output: 'Why?!' });
  });

  it('with a schema outputs a value, also from a code fence, and fails if the answer does not fit', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const graph = inARow([node('count', 'agent', { json_schema: schema, output_variable: 'counted' })]);
    const fits = await runWorkflow(graph, { says: () => [text('```json\n{"n": 1}\n```')] });
    expect(fits.steps.find(({ node_id: id, status }) => id === 'count' && status === 'completed')).toMatchObject({
      output: { n: 1 },
      state_delta: { counted: { n: 1 } },
    });
    expect(fits.answer).toBe('{"n":1}');
    const does = await runWorkflow(graph, { says: () => [text('one')] });
    expect(does.steps.at(-1)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('schema of this node') as unknown,
    });
    expect(does.run.status).toBe('failed');
    expect(does.answer).toBe('');
  });

  it('with a file_passing setting other than auto shows a notice', async () => {
    const settings = { attachments: [{ id: 'f1', filename: 'a.pdf', mimeType: 'application/pdf' }] };
    const asked = { file_passing: 'native', input_documents: ['*'] };
    const { frames } = await runWorkflow(inARow([node('ask', 'agent', asked)]), { settings });
    expect(frames.flatMap(({ type, notice }) => (type === 'notice' ? [notice] : []))).toEqual([
      expect.stringContaining('file_passing "native" acts as "auto"'),
    ]);
    const plain = await runWorkflow(inARow([node('ask', 'agent', { input_documents: ['*'] })]), { settings });
    expect(plain.frames.filter(({ type }) => type === 'notice')).toEqual([]);
  });

  it('of the type research uses its own prompt, asks nothing back, and records its research for its step', async () => {
    const asked = { agent_type: 'research', system_prompt: 'Dig deep.', output_variable: 'found' };
    const { frames, models, log, steps, run } = await runWorkflow(inARow([node('dig', 'agent', asked)]), {
      says: researcher(['q1']),
    });
    expect(briefFrames(frames).slice(4, -6)).toEqual([
      ...['dig running', 'research_progress', 'research_plan', 'research_progress', 'research_progress'],
      ...['research_progress', 'answer', 'dig completed'],
    ]);
    expect(models.requests.map(taskOf)).toEqual(['plan', 'step', 'answer']);
    expect(models.requests.slice(1).every(({ messages }) => JSON.stringify(messages[0]).includes('Dig deep.'))).toBe(true);
    expect(steps.find(({ node_id: id, status }) => id === 'dig' && status === 'completed')).toMatchObject({
      state_delta: { found: 'The answer.' },
    });
    const recorded = async (id: string) => (await eventsOf(log, researchStream(id))).map(({ type }) => type);
    expect(await recorded(researchIdOf(workflowRunIdOf('t1'), 2))).toEqual(['ResearchPlanned', 'ResearchStepReported']);
    expect(await recorded('t1')).toEqual([]);
    expect(run.status).toBe('completed');
  });

  it('of the type research without streaming shows no frames of its research', async () => {
    const asked = { agent_type: 'research', stream_to_user: false };
    const { frames, run } = await runWorkflow(inARow([node('dig', 'agent', asked)], 'Done.'), { says: researcher(['q1']) });
    expect(frames.filter(({ type }) => String(type).startsWith('research'))).toEqual([]);
    expect([run.status, run.values['node_dig_output']]).toEqual(['completed', { value: 'The answer.' }]);
  });

  it('uses a template that cannot be rendered unchanged, and records a problem', async () => {
    const { frames, run, models } = await runWorkflow(
      inARow([node('ask', 'agent', { prompt_template: '{{broken}} {{query}}' })]),
    );
    expect(models.requests[0]!.question).toBe('{{broken}} {{query}}');
    expect(frames.find(({ type }) => type === 'notice')!['notice']).toContain('It is broken.');
    expect(run.steps[1]!.ended!.problems).toEqual([expect.stringContaining('It is broken.')]);
  });

  it('records the calls of its tools with its step', async () => {
    const tools = new ToolsForTests([offeredAction('send', { access: 'write' })]);
    const { log, run, frames } = await runWorkflow(inARow([node('ask', 'agent', { tools: ['tool-1'] })]), {
      tools,
      says: (request) => (roundOf(request) === 0 ? [toolCall('k1', 'send')] : [text('Sent.')]),
    });
    expect(tools.names).toEqual(['send']);
    const begun = (await eventsOf(log, conversationStream('c1'))).find(({ type }) => type === 'ToolCallStarted')!;
    expect(JSON.parse(begun.data)).toMatchObject({ call: { callId: 'k1', step: 2 } });
    expect(run.steps[1]!.ended!.toolCalls).toEqual([
      { tool_name: 'api_tool', action_name: 'send', status: 'completed', call_id: 'k1' },
    ]);
    expect(frames.filter(({ type }) => type === 'tool_call')).toHaveLength(2);
  });

  it('whose model fails ends its step, the run and the answer with that error', async () => {
    const { frames, run, outcome } = await runWorkflow(inARow([node('ask', 'agent')]), {
      says: function* () {
        yield text('Be');
        throw new ModelFailed('overloaded', 'The model is busy.', true);
      },
    });
    expect(briefFrames(frames).slice(4)).toEqual(['ask running', 'answer', 'ask failed', 'error', 'id', 'end']);
    expect(frames.find(({ type }) => type === 'error')).toEqual({
      type: 'error',
      error: 'The model is busy.',
      code: 'overloaded',
    });
    expect(outcome).toMatchObject({ type: 'TurnFailed', data: { answer: 'Be', code: 'overloaded' } });
    expect(run.finished).toMatchObject({ status: 'failed', reason: 'node_failed', error: 'The model is busy.' });
  });
});

describe('a computing node', () => {
  const conditional = (cases: readonly object[]) =>
    graphOf(
      [
        node('start', 'start'),
        node('if', 'condition', { cases }),
        node('yes', 'end', { output_template: 'yes' }),
        node('no', 'end', { output_template: 'no' }),
      ],
      'start>if',
      'if:first>yes',
      'if:else>no',
    );

  it('sets variables in order', async () => {
    const operations = [
      { expression: '1 + 1', target_variable: 'two' },
      { expression: 'two * 2', target_variable: 'four' },
    ];
    const { steps, answer } = await runWorkflow(inARow([node('set', 'state', { operations })], '{{four}}'));
    expect(steps.find(({ node_id: id, status }) => id === 'set' && status === 'completed')).toMatchObject({
      state_delta: { two: 2, four: 4 },
      output: null,
    });
    expect(answer).toBe('4');
  });

  it('fails if an expression fails, and keeps the variables set before', async () => {
    const operations = [
      { expression: '1', target_variable: 'one' },
      { expression: 'missing', target_variable: 'two' },
    ];
    const { steps, run, frames } = await runWorkflow(inARow([node('set', 'state', { operations })]));
    expect(steps.at(-1)).toMatchObject({ status: 'failed', state_delta: { one: 1 } });
    expect(frames.find(({ type }) => type === 'error')).toMatchObject({
      error: 'The expression of two could not be evaluated: missing is not defined',
      code: 'expression_failed',
    });
    expect(run.finished).toMatchObject({ status: 'failed' });
  });

  it('follows the branch of the first true case, otherwise the else branch', async () => {
    expect((await runWorkflow(conditional([{ expression: 'query == "Why?"', sourceHandle: 'first' }]))).answer).toBe('yes');
    expect((await runWorkflow(conditional([{ expression: 'query == "How?"', sourceHandle: 'first' }]))).answer).toBe('no');
    expect((await runWorkflow(conditional([{ expression: '"text"', sourceHandle: 'first' }]))).answer).toBe('no');
  });

  it('skips a case that cannot be evaluated and records a problem', async () => {
    const { answer, run } = await runWorkflow(conditional([{ name: 'Big', expression: 'missing > 1', sourceHandle: 'first' }]));
    expect(answer).toBe('no');
    expect(run.steps[1]!.ended).toMatchObject({
      handle: 'else',
      problems: ['The case "Big" could not be evaluated: missing is not defined'],
    });
  });

  it('may be visited several times, each time as a new step', async () => {
    const graph = graphOf(
      [
        node('start', 'start'),
        node('count', 'state', { operations: [{ expression: '(typeof n == "undefined" ? 0 : n) + 1', target_variable: 'n' }] }),
        node('if', 'condition', { cases: [{ expression: 'n < 3', sourceHandle: 'more' }] }),
        node('end', 'end', { output_template: '{{n}}' }),
      ],
      ...['start>count', 'count>if', 'if:more>count', 'if:else>end'],
    );
    const { answer, run } = await runWorkflow(graph);
    expect(answer).toBe('3');
    expect(run.steps.map(({ nodeId }) => nodeId)).toEqual(['start', 'count', 'if', 'count', 'if', 'count', 'if', 'end']);
  });
});

it('a large value is stored as a blob, and its beginning is shown', async () => {
  const long = 'x'.repeat(100_000);
  const { log, steps, answer } = await runWorkflow(
    inARow([node('ask', 'agent', { stream_to_user: false, output_variable: 'said' })], '{{said}}'),
    { says: () => [text(long)] },
  );
  const events = await eventsOf(log, workflowRunStream(workflowRunIdOf('t1')));
  expect(events.every(({ data }) => data.length < 10_000)).toBe(true);
  expect(answer).toBe(long);
  const { output } = steps.find(({ node_id: id, status }) => id === 'ask' && status === 'completed') as { output: string };
  expect(output.length).toBeLessThan(2_100);
});
