import type { AnswerGuards } from '../../src/dialogue/answering/guardrails/answer-guards.js';
import { noGuards } from './guardrails.js';
import { runInNewContext } from 'node:vm';
import { AgentNode } from '../../src/dialogue/answering/workflow-runs/nodes/agent-node.js';
import type { CodeNode } from '../../src/dialogue/answering/workflow-runs/nodes/code-node.js';
import { NodeFiles } from '../../src/dialogue/answering/workflow-runs/nodes/node-files.js';
import { NodeTemplates } from '../../src/dialogue/answering/workflow-runs/nodes/node-templates.js';
import { PlainNodes } from '../../src/dialogue/answering/workflow-runs/nodes/plain-nodes.js';
import { RunValues } from '../../src/dialogue/answering/workflow-runs/run-values.js';
import { WorkflowAnswers } from '../../src/dialogue/answering/workflow-runs/workflow-answers.js';
import { WorkflowNodes } from '../../src/dialogue/answering/workflow-runs/nodes/workflow-nodes.js';
import { workflowRun } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.decider.js';
import { workflowRunHandlers } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.commands.js';
import { workflowRunIdOf, workflowRunStream } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { AnswerComposer } from '../../src/dialogue/answering/runner/answer-composer.js';
import { Continuations } from '../../src/dialogue/answering/continuations/continuations.js';
import type { Blobs } from '../../src/kernel/blobs.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { LanguageModels } from '../../src/resources/models/model/language-model.port.js';
import type { PromptNamespaces, PromptRenderer } from '../../src/resources/prompts/prompt.port.js';
import type { ArtifactContents } from '../../src/resources/artifacts/artifact-contents.port.js';
import type { AttachmentShelf } from '../../src/resources/attachments/attachment-shelf.port.js';
import type { OpenTools } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { ExpressionFailed, type Expressions } from '../../src/resources/workflows/expressions/expressions.port.js';
import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from '../../src/resources/workflows/workflow-graph.policy.js';
import type { WorkflowGraphs } from '../../src/resources/workflows/workflow-graphs.port.js';
import { commandsOver } from './commands-over.js';
import { agentsOver, NO_RESEARCH, ToolboxForTests } from './tool-turns.js';
import { answeringOptions } from './turns.js';

/** A node with flat settings. */
export const node = (id: string, type: string, data: Readonly<Record<string, unknown>> = {}): WorkflowNode => ({
  id,
  type,
  title: `The ${id}`,
  description: '',
  position: { x: 0, y: 0 },
  data,
});

/** `a>b` leads from a to b, `a:yes>b` from a's branch `yes`. */
const edge = (way: string): WorkflowEdge => {
  const [from, target] = way.split('>') as [string, string];
  const [source, handle] = from.split(':') as [string, string | undefined];
  return { id: way, source, target, sourceHandle: handle ?? null, targetHandle: null };
};

export const graphOf = (nodes: readonly WorkflowNode[], ...ways: readonly string[]): WorkflowGraph => ({
  nodes,
  edges: ways.map(edge),
});

/** Nodes in a row between a start and an end. The end has an empty template by default. */
export function inARow(nodes: readonly WorkflowNode[], outputTemplate = ''): WorkflowGraph {
  const all = [node('start', 'start'), ...nodes, node('end', 'end', { output_template: outputTemplate })];
  return graphOf(all, ...all.slice(1).map(({ id }, at) => `${all[at]!.id}>${id}`));
}

const WORKFLOW = { id: 'workflow-1', version: 1 } as const;
/** The settings of a turn that runs the workflow. */
export const RUNS_WORKFLOW = { agentType: 'workflow', workflow: WORKFLOW, writeAllowlist: null } as const;

/** Expressions in tests are JavaScript over the variables. `fails` fails. */
const expressions: Expressions = {
  evaluate: async (expression, state) => {
    try {
      return runInNewContext(`(${expression})`, { ...state }) as unknown;
    } catch (error) {
      throw new ExpressionFailed('failed', (error as Error).message);
    }
  },
  compile: async (all) => all.map(() => undefined),
};

/** `{{name}}` is a variable. A template with `{{broken}}` cannot be rendered. */
const prompts = {
  fill: async (text: string, { variables = {} }: PromptNamespaces) => {
    if (text.includes('{{broken}}')) throw new Rejection('prompt-not-renderable', 'It is broken.');
    const filled = text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = variables[name];
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
    return { text: filled, holdsDocuments: false };
  },
} as unknown as PromptRenderer;

/** For tests without code nodes. */
const NO_CODE = {} as CodeNode;

/** The components that run workflows over a store, as in a process of the service. */
export function workflowsOver(
  store: EventStore,
  graph: WorkflowGraph,
  models: LanguageModels,
  tools: OpenTools,
  blobs: Blobs,
  guards?: AnswerGuards,
  research = NO_RESEARCH,
): AnswerComposer {
  const streams = new Streams(store, systemTiming);
  const clock = { now: () => new Date() };
  const commands = commandsOver(...workflowRunHandlers.map((Handler) => new Handler(streams, clock)));
  const templates = new NodeTemplates(prompts, clock, answeringOptions);
  const agents = agentsOver(models, tools, blobs);
  const graphs = { pinned: async () => graph } as unknown as WorkflowGraphs;
  const workflows = new WorkflowAnswers(
    streams,
    commands,
    graphs,
    new ToolboxForTests(tools),
    new RunValues(blobs),
    new Continuations(blobs),
    new WorkflowNodes(
      new AgentNode(agents, research, templates, new NodeFiles({} as AttachmentShelf, {} as ArtifactContents)),
      new PlainNodes(expressions, templates),
      NO_CODE,
    ),
  );
  return new AnswerComposer(agents, research, workflows, guards ?? noGuards(commands));
}

/** The state of a turn's workflow run, from the log. */
export const workflowRunOf = async (store: EventStore, turnId: string) =>
  (await new Streams(store, systemTiming).fold(workflowRunStream(workflowRunIdOf(turnId)), workflowRun)).state;
