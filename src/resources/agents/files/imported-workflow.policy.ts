import type { WorkflowGraph, WorkflowNode } from '../../workflows/workflow-graph.policy.js';
import type { AgentFile, FileNode, FileWorkflow } from './format/agent-file.policy.js';
import { isJsonObject, type JsonObject } from '../../json-object.policy.js';
import { toolKey } from './import-plan.policy.js';

/** Resolves names in a file to ids here. Null if nothing matches. */
export type ImportedReferences = Readonly<{
  tool: (key: string) => string | null;
  source: (name: string) => string | null;
  model: (name: string) => string | null;
}>;

/** Resolves ids to names in a file. Undefined if the file cannot name the resource. */
export type ExportedReferences = Readonly<{
  tool: (id: string) => string | undefined;
  source: (id: string) => string | undefined;
  model: (id: string) => string | undefined;
}>;

/** Some clients send this when a node has no source. */
const NO_SOURCE = 'default';

/** The settings of a node, which are either in `data.config` or directly in `data`. */
const settingsOf = ({ data }: Pick<WorkflowNode, 'data'>): JsonObject => (isJsonObject(data['config']) ? data['config'] : data);

const textsIn = (value: unknown): readonly string[] =>
  (typeof value === 'string' ? [value] : Array.isArray(value) ? value : []).filter(
    (each): each is string => typeof each === 'string',
  );

/** The tools, sources and models of a graph, each once, in the order of their first use. */
export function referencesOf({ nodes }: WorkflowGraph): Readonly<{ tools: string[]; sources: string[]; models: string[] }> {
  const agents = nodes.filter(({ type }) => type === 'agent').map(settingsOf);
  const distinct = (texts: readonly string[]) => [...new Set(texts.filter((text) => text !== '' && text !== NO_SOURCE))];
  return {
    tools: distinct(agents.flatMap(({ tools }) => textsIn(tools))),
    sources: distinct(agents.flatMap(({ sources }) => textsIn(sources))),
    models: distinct(agents.flatMap(({ model_id: model }) => textsIn(model))),
  };
}

/** A graph in the form of a file, without references that the file cannot name. */
export function portableGraph({ nodes, edges }: WorkflowGraph, named: ExportedReferences): Pick<FileWorkflow, 'nodes' | 'edges'> {
  return {
    nodes: nodes.map(({ data, ...node }) => {
      const config = settingsOf({ data });
      return {
        id: node.id,
        type: node.type,
        title: node.title,
        description: node.description,
        position: { x: node.position.x, y: node.position.y },
        config: node.type === 'agent' ? withReferences(config, named) : config,
      };
    }),
    edges: edges.map(({ id, source, target, sourceHandle, targetHandle }) => ({
      id,
      source,
      target,
      sourceHandle,
      targetHandle,
    })),
  };
}

function withReferences(config: JsonObject, named: ExportedReferences): JsonObject {
  const list = (key: string, name: (id: string) => string | undefined) =>
    config[key] === undefined
      ? {}
      : { [key]: textsIn(config[key]).flatMap((id) => (id === NO_SOURCE ? [id] : (name(id) ?? []))) };
  const { model_id: model } = config;
  return {
    ...config,
    ...list('tools', named.tool),
    ...list('sources', named.source),
    ...(typeof model === 'string' && model !== '' && { model_id: named.model(model) ?? '' }),
  };
}

/** The graph that a file describes, with references resolved to ids. A warning reports each reference that is not found. */
export function importedGraph({ nodes, edges }: FileWorkflow, here: ImportedReferences, warnings: string[]): WorkflowGraph {
  const resolved = (kind: string, name: string, id: string | null): readonly string[] => {
    if (id === null) warnings.push(`Workflow node ${kind} '${name.slice(0, 100)}' not resolved; removed`);
    return id === null ? [] : [id];
  };
  const settings = ({ type, config }: FileNode): JsonObject => {
    if (type !== 'agent') return config;
    const { tools, sources, model_id: model } = config;
    const isNamed = typeof model === 'string' && model !== '';
    return {
      ...config,
      ...(tools !== undefined && { tools: textsIn(tools).flatMap((key) => resolved('tool', key, here.tool(key))) }),
      ...(sources !== undefined && {
        sources: textsIn(sources).flatMap((name) => (name === NO_SOURCE ? [name] : resolved('source', name, here.source(name)))),
      }),
      ...(isNamed && { model_id: resolved('model', model, here.model(model))[0] ?? '' }),
    };
  };
  return {
    nodes: nodes.map(({ config, ...node }) => ({ ...node, data: settings({ ...node, config }) })),
    edges,
  };
}

/** The index of the file's tool that a node names by key or `ref`, or -1. */
export function toolIndexOf({ tools }: AgentFile, key: string): number {
  const byKey = tools.findIndex((_, index) => toolKey(index) === key);
  return byKey >= 0 ? byKey : tools.findIndex(({ ref }) => ref !== '' && ref === key);
}
