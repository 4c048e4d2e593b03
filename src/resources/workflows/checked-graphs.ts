import { Injectable } from '@nestjs/common';
import { Rejection, Unavailable } from '../../kernel/rejection.js';
import { LanguageModels } from '../models/model/language-model.port.js';
import { isTemplate } from '../prompts/template-namespaces.policy.js';
import { TemplateEngine, TemplateFailed } from '../prompts/templates/template-engine.port.js';
import { ExpressionFailed, Expressions } from './expressions/expressions.port.js';
import { type CheckedGraph, GraphValidation } from './graph-validation.port.js';
import { capProblems, type ConfiguredNode, nameOfNode, structureProblems } from './graph-structure.policy.js';
import { readNodeConfig } from './node-config.policy.js';
import { readGraph } from './read-graph.policy.js';
import { GRAPH_BYTES_MAX, type WorkflowGraph } from './workflow-graph.policy.js';
import { WorkflowReferences } from './workflow-references.js';

const PROBLEMS_MAX = 100;
const NOTHING = { nodes: [], edges: [] };

/** An expression or template of a node, and the name that problems give it. */
type Part = Readonly<{ text: string; name: string }>;

/** Reads graphs and runs all checks that are possible before a run. */
@Injectable()
export class CheckedGraphs extends GraphValidation {
  constructor(
    private readonly expressions: Expressions,
    private readonly templates: TemplateEngine,
    private readonly models: LanguageModels,
    private readonly references: WorkflowReferences,
  ) {
    super();
  }

  async check(ownerId: string, nodes: unknown, edges: unknown): Promise<CheckedGraph> {
    const beyond = [...capProblems(nodes, edges), ...sizeProblems(nodes, edges)];
    if (beyond.length > 0) return { graph: NOTHING, problems: beyond };
    const { graph, problems } = readGraph(nodes, edges);
    const read = graph.nodes.map((node) => ({ node, ...readNodeConfig(node) }));
    const found = [
      ...problems,
      ...structureProblems(read, graph.edges),
      ...read.flatMap((each) => each.problems.map((problem) => `${nameOfNode(each.node)} ${problem}`)),
      ...(await this.expressionProblems(read)),
      ...(await this.modelProblems(ownerId, read)),
      ...(await this.templateProblems(read)),
    ];
    return { graph, problems: bounded([...new Set(found)]) };
  }

  async sound(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph> {
    const { graph, problems } = await this.check(ownerId, nodes, edges);
    if (problems.length > 0) throw notValid(problems);
    return graph;
  }

  async usable(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph> {
    const graph = await this.sound(ownerId, nodes, edges);
    await this.references.refuseInaccessible(ownerId, graph, undefined);
    return graph;
  }

  private async expressionProblems(nodes: readonly ConfiguredNode[]): Promise<readonly string[]> {
    const parts = nodes.flatMap(expressionsIn).filter(({ text }) => text !== '');
    try {
      const problems = await this.expressions.compile(parts.map(({ text }) => text));
      return parts.flatMap(({ name }, at) => (problems[at] === undefined ? [] : [`${name} is not valid: ${problems[at]}`]));
    } catch (error) {
      if (!(error instanceof ExpressionFailed)) throw error;
      if (error.failure === 'busy') throw new Unavailable(error.message);
      return [`The expressions of the workflow cannot be read. ${error.message}`];
    }
  }

  /** Lists the models only if a node names one. */
  private async modelProblems(ownerId: string, nodes: readonly ConfiguredNode[]): Promise<readonly string[]> {
    const named = nodes.flatMap(({ node, config }) =>
      config?.type === 'agent' && config.modelId !== '' ? [{ node, config }] : [],
    );
    if (named.length === 0) return [];
    const models = new Map((await this.models.list(ownerId)).map((model) => [model.id, model]));
    return named.flatMap(({ node, config: { modelId, jsonSchema } }) => {
      const model = models.get(modelId);
      if (!model) return [`${nameOfNode(node)} names no model of this service, and none of its owner: ${modelId}`];
      const isUnable = jsonSchema !== null && !model.structuredOutput;
      return isUnable ? [`${nameOfNode(node)}: the model ${modelId} does not support structured output`] : [];
    });
  }

  /**
   * Checks templates one after the other: each takes less than a millisecond, and the template engine also serves other requests.
   */
  private async templateProblems(nodes: readonly ConfiguredNode[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { text, name } of nodes.flatMap(templatesIn)) {
      if (!isTemplate(text)) continue;
      try {
        await this.templates.check(text);
      } catch (error) {
        if (!(error instanceof TemplateFailed)) throw error;
        if (error.failure === 'busy') throw new Unavailable(error.message);
        problems.push(`${name}: ${error.message}`);
      }
    }
    return problems;
  }
}

/** Web clients show the list when they create a workflow, and the text when they change one. */
function notValid(errors: readonly string[]): Rejection {
  const error = 'Workflow validation failed';
  return new Rejection('workflow-not-valid', `${error}: ${errors.join('; ')}`, { error, errors });
}

function sizeProblems(nodes: unknown, edges: unknown): readonly string[] {
  const bytes = Buffer.byteLength(JSON.stringify([nodes ?? null, edges ?? null]));
  return bytes > GRAPH_BYTES_MAX ? [`The workflow has ${bytes} bytes; at most ${GRAPH_BYTES_MAX} are kept`] : [];
}

const bounded = (problems: readonly string[]): readonly string[] =>
  problems.length <= PROBLEMS_MAX
    ? problems
    : [...problems.slice(0, PROBLEMS_MAX), `and ${problems.length - PROBLEMS_MAX} more problems`];

function expressionsIn({ node, config }: ConfiguredNode): readonly Part[] {
  const name = nameOfNode(node);
  if (config?.type === 'condition') {
    return config.cases.map(({ expression, sourceHandle }) => ({
      text: expression,
      name: `${name}: the expression of case '${sourceHandle}'`,
    }));
  }
  if (config?.type !== 'state') return [];
  return config.operations.map(({ expression, targetVariable }) => ({
    text: expression,
    name: `${name}: the expression of '${targetVariable}'`,
  }));
}

function templatesIn({ node, config }: ConfiguredNode): readonly Part[] {
  const name = nameOfNode(node);
  if (config?.type === 'end') return [{ text: config.outputTemplate, name }];
  if (config?.type !== 'agent') return [];
  return [config.systemPrompt, config.promptTemplate].map((text) => ({ text, name }));
}
