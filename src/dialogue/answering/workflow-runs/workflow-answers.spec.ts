import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { offeredAction, text, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { eventsOf } from '../../../../test/support/turns.js';
import { runWorkflow, briefFrames } from '../../../../test/support/workflow-turns.js';
import { graphOf, inARow, node } from '../../../../test/support/workflows.js';
import { RUN_STEPS_MAX } from '../../../resources/workflows/workflow-graph.policy.js';
import { INPUT_DOCUMENTS_MAX } from './nodes/run-state.js';
import { workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

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
