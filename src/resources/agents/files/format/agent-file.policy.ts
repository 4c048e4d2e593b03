import { TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX } from '../../agent.policy.js';
import { isJsonObject, type JsonObject } from '../../../json-object.policy.js';
import {
  GRAPH_EDGES_MAX,
  GRAPH_NODES_MAX,
  type WorkflowEdge,
  type WorkflowNode,
} from '../../../workflows/workflow-graph.policy.js';
import { Fields, fileRefused, refuseUnsayable, shown } from './file-fields.policy.js';
import { type FileTool, toolIn } from './file-tools.policy.js';

export const FILE_BYTES_MAX = 512 * 1024;
export const FILE_KIND = 'Agent';
export const FILE_VERSION = 'docsgpt.arc53.com/v1';
export const FILE_ENTRIES_MAX = 100;
const PROMPT_CONTENT_CHARACTERS_MAX = 100_000;
const UNKNOWN_KEYS_SHOWN_MAX = 100;

/** A source with the name that its owner gave it. */
type FileSource = Readonly<{ name: string; type: string; ref: string }>;

/** A model that its owner described, without its key. */
export type FileCustomModel = Readonly<{
  display_name: string;
  upstream_model_id: string;
  base_url: string;
  capabilities: JsonObject;
  ref: string;
}>;

type FileModel = string | FileCustomModel;

type FilePrompt = Readonly<{ preset: string } | { name: string; content: string }>;

export type FileNode = Omit<WorkflowNode, 'data'> & Readonly<{ config: JsonObject }>;

export type FileWorkflow = Readonly<{
  name: string;
  description: string;
  nodes: readonly FileNode[];
  edges: readonly WorkflowEdge[];
}>;

type FileLimits = Readonly<{
  limited_token_mode: boolean;
  token_limit: number | undefined;
  limited_request_mode: boolean;
  request_limit: number | undefined;
}>;

/** The agent that a file describes. The types of all values have been checked. */
export type AgentFile = Readonly<{
  id: string;
  slug: string;
  name: string;
  description: string;
  agentType: string;
  /** Undefined if the file does not set it. */
  retriever: string | undefined;
  chunks: number | null;
  prompt: FilePrompt;
  models: readonly FileModel[];
  defaultModel: string;
  sources: readonly FileSource[];
  tools: readonly FileTool[];
  limits: FileLimits;
  /** Not yet validated as a schema. */
  jsonSchema: unknown;
  allowSystemPromptOverride: boolean;
  /** Undefined if the file does not set it. */
  mcpAsk: boolean | undefined;
  /** Not yet validated as a policy. */
  config: JsonObject;
  /** Undefined if the file omits it, which changes nothing. Null removes the agent's workflow. */
  workflow: FileWorkflow | null | undefined;
  /** The paths of the file's unknown keys. */
  unknownKeys: readonly string[];
}>;

/** The agent that a document describes. @throws Rejection invalid-request, which names the faulty field */
export function agentFileIn(document: unknown): AgentFile {
  if (!isJsonObject(document)) throw fileRefused('Top-level YAML must be a mapping');
  const unknownKeys: string[] = [];
  const top = new Fields(document, '', unknownKeys);
  const kind = top.raw('kind');
  if (kind !== FILE_KIND) throw fileRefused(`Unsupported kind ${shown(kind)}; expected 'Agent'`);
  const version = top.raw('apiVersion');
  if (typeof version !== 'string' || !version.startsWith('docsgpt.'))
    throw fileRefused(`Unsupported apiVersion ${shown(version)}`);
  if (!isJsonObject(top.raw('spec'))) throw fileRefused("Missing or invalid 'spec'");
  const metadataGiven = top.raw('metadata');
  if (metadataGiven !== undefined && !isJsonObject(metadataGiven)) throw fileRefused('metadata must be a mapping');
  const metadata = new Fields(metadataGiven ?? {}, 'metadata', unknownKeys);
  const spec = new Fields(top.raw('spec') as JsonObject, 'spec', unknownKeys);
  const name = spec.name('name').trim();
  if (name === '') throw fileRefused('spec.name is required');
  const agentType = spec.name('agent_type') || 'classic';
  const workflow = workflowIn(spec, agentType);
  const file: Omit<AgentFile, 'unknownKeys'> = {
    id: metadata.name('id'),
    slug: metadata.name('slug'),
    name,
    description: spec.text('description', TEXT_CHARACTERS_MAX),
    agentType,
    workflow,
    ...listsIn(spec),
    ...modelsIn(spec),
    retriever: spec.name('retriever') || undefined,
    chunks: spec.whole('chunks') ?? null,
    prompt: promptIn(spec),
    limits: limitsIn(spec.inner('limits')),
    jsonSchema: spec.raw('json_schema') ?? null,
    allowSystemPromptOverride: spec.flag('allow_system_prompt_override') ?? false,
    mcpAsk: spec.flag('mcp_ask'),
    config: spec.record('config'),
  };
  refuseUnsayable(file.jsonSchema, 'spec.json_schema');
  for (const fields of [top, metadata, spec]) fields.end();
  return { ...file, unknownKeys: unknownKeys.slice(0, UNKNOWN_KEYS_SHOWN_MAX) };
}

function workflowIn(spec: Fields, agentType: string): AgentFile['workflow'] {
  // In the file of another kind of agent it counts as an unknown key.
  if (agentType !== 'workflow' || !spec.has('workflow')) return undefined;
  const given = spec.raw('workflow');
  if (given === undefined) return null;
  if (!isJsonObject(given)) throw fileRefused('spec.workflow must be a mapping');
  if (!Array.isArray(given['nodes']) || !Array.isArray(given['edges'])) {
    throw fileRefused('spec.workflow.nodes and spec.workflow.edges must be lists');
  }
  if (given['nodes'].length > GRAPH_NODES_MAX) throw fileRefused(`Too many workflow nodes (max ${GRAPH_NODES_MAX})`);
  if (given['edges'].length > GRAPH_EDGES_MAX) throw fileRefused(`Too many workflow edges (max ${GRAPH_EDGES_MAX})`);
  const workflow = spec.inner('workflow');
  const result = {
    name: workflow.name('name'),
    description: workflow.text('description', TEXT_CHARACTERS_MAX),
    nodes: workflow.records('nodes').map(nodeIn),
    edges: workflow.records('edges').map(edgeIn),
  };
  workflow.end();
  return result;
}

function nodeIn(node: Fields): FileNode {
  const [id, type] = [node.text('id'), node.text('type')];
  if (id === '' || type === '') throw fileRefused("Every workflow node needs an 'id' and a 'type'");
  const position = node.inner('position');
  const read = {
    id,
    type,
    title: node.text('title'),
    description: node.text('description', TEXT_CHARACTERS_MAX),
    position: { x: position.number('x'), y: position.number('y') },
    config: node.record('config'),
  };
  position.end();
  node.end();
  return read;
}

function edgeIn(edge: Fields): WorkflowEdge {
  const id = edge.text('id');
  if (id === '') throw fileRefused("Every workflow edge needs an 'id'");
  const read = {
    id,
    source: edge.text('source'),
    target: edge.text('target'),
    sourceHandle: edge.text('sourceHandle') || null,
    targetHandle: edge.text('targetHandle') || null,
  };
  edge.end();
  return read;
}

function listsIn(spec: Fields): Pick<AgentFile, 'sources' | 'tools'> {
  for (const what of ['sources', 'tools'] as const) {
    if (spec.list(what).length > FILE_ENTRIES_MAX) throw fileRefused(`Too many ${what} (max ${FILE_ENTRIES_MAX})`);
  }
  return { sources: spec.records('sources').map(sourceIn), tools: spec.records('tools').map(toolIn) };
}

function sourceIn(source: Fields): FileSource {
  const read = { name: source.name('name', 1000), type: source.name('type'), ref: source.name('ref') };
  if (read.name === '') throw source.wrong('name', 'is required');
  source.end();
  return read;
}

function modelsIn(spec: Fields): Pick<AgentFile, 'models' | 'defaultModel'> {
  const model = spec.inner('model');
  const available = model.list('available');
  if (available.length > FILE_ENTRIES_MAX) throw fileRefused(`Too many models (max ${FILE_ENTRIES_MAX})`);
  const models = available.map((each, index): FileModel => {
    if (typeof each === 'string' && each !== '' && each.length <= TITLE_CHARACTERS_MAX) return each;
    if (!isJsonObject(each)) throw fileRefused(`spec.model.available[${index}] must be the id of a model or a mapping`);
    return customModelIn(model.entry(each, `available[${index}]`));
  });
  const defaultModel = model.name('default');
  model.end();
  return { models, defaultModel };
}

function customModelIn(model: Fields): FileCustomModel {
  if (model.raw('type') !== 'custom') throw model.wrong('type', "must be 'custom'");
  const read = {
    display_name: model.name('display_name').trim(),
    upstream_model_id: model.name('upstream_model_id').trim(),
    base_url: model.text('base_url', 2048).trim(),
    capabilities: model.record('capabilities'),
    ref: model.name('ref'),
  };
  for (const key of ['display_name', 'upstream_model_id', 'base_url'] as const) {
    if (read[key] === '') throw model.wrong(key, 'is required');
  }
  if (model.list('requires_secrets').some((each) => typeof each !== 'string')) {
    throw model.wrong('requires_secrets', 'must be a list of names');
  }
  model.end();
  return read;
}

function promptIn(spec: Fields): FilePrompt {
  const given = spec.raw('prompt') ?? 'default';
  if (typeof given === 'string') return { preset: given };
  if (!isJsonObject(given)) throw spec.wrong('prompt', "must be 'default' or a mapping with name and content");
  const prompt = spec.inner('prompt');
  const read = { name: prompt.name('name'), content: prompt.text('content', PROMPT_CONTENT_CHARACTERS_MAX) };
  if (read.name.trim() === '') throw prompt.wrong('name', 'is required');
  if (read.content === '') throw prompt.wrong('content', 'is required');
  prompt.end();
  return read;
}

function limitsIn(limits: Fields): FileLimits {
  const read = {
    limited_token_mode: limits.flag('limited_token_mode') ?? false,
    token_limit: limits.whole('token_limit'),
    limited_request_mode: limits.flag('limited_request_mode') ?? false,
    request_limit: limits.whole('request_limit'),
  };
  for (const what of ['token', 'request'] as const) {
    if (read[`limited_${what}_mode`] && read[`${what}_limit`] === 0) {
      throw limits.wrong(`${what}_limit`, `must be greater than 0 where limited_${what}_mode is on`);
    }
  }
  limits.end();
  return read;
}
