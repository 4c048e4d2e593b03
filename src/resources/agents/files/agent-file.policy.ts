import { Rejection } from '../../../kernel/rejection.js';
import { TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX } from '../agent.policy.js';
import { isJsonObject, type JsonObject } from '../../json-object.policy.js';
import { GRAPH_EDGES_MAX, GRAPH_NODES_MAX, type WorkflowEdge, type WorkflowNode } from '../../workflows/workflow-graph.policy.js';
import type { PortableChoice, PortableTool } from '../../tools/portable/portable-tools.port.js';

export const FILE_BYTES_MAX = 512 * 1024;
export const FILE_KIND = 'Agent';
export const FILE_VERSION = 'docsgpt.arc53.com/v1';
export const FILE_ENTRIES_MAX = 100;
const FILE_ACTIONS_MAX = 100;
const PROMPT_CONTENT_CHARACTERS_MAX = 100_000;
const UNKNOWN_KEYS_SHOWN_MAX = 100;
const SHOWN_CHARACTERS_MAX = 100;

/** A source with the name that its owner gave it. */
type FileSource = Readonly<{ name: string; type: string; ref: string }>;

/** A tool that every user has. */
type FileBuiltinTool = Readonly<{ builtin: true; type: string; ref: string }>;

/** A tool that its owner set up, without its secrets. */
export type FileOwnTool = PortableTool & Readonly<{ builtin: false; ref: string }>;

export type FileTool = FileBuiltinTool | FileOwnTool;

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

/** The rejection of a file. */
export const fileRefused = (text: string) => new Rejection('invalid-request', text);

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `'${text.slice(0, SHOWN_CHARACTERS_MAX)}'`;
};

/** Reads the fields of one mapping, checks their types, and records the keys that nothing has read. */
class Fields {
  private readonly asked = new Set<string>();

  constructor(
    private readonly value: JsonObject,
    readonly path: string,
    private readonly unknown: string[],
  ) {}

  /** The value of a key. Null has the same effect as leaving the key out. */
  raw(key: string): unknown {
    this.asked.add(key);
    return Object.hasOwn(this.value, key) ? (this.value[key] ?? undefined) : undefined;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.value, key);
  }

  text(key: string, max = TITLE_CHARACTERS_MAX): string {
    const value = this.raw(key);
    if (value === undefined) return '';
    // YAML reads an unquoted name such as 42 as a number.
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (typeof text !== 'string') throw this.wrong(key, 'must be text');
    if (text.length > max) throw this.wrong(key, `must have at most ${max} characters`);
    return text;
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== 'boolean') throw this.wrong(key, 'must be true or false');
    return value;
  }

  whole(key: string): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.wrong(key, 'must be a whole number of at least 0');
    return value as number;
  }

  number(key: string): number {
    const value = this.raw(key) ?? 0;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.wrong(key, 'must be a number');
    return value;
  }

  record(key: string): JsonObject {
    const value = this.raw(key) ?? {};
    if (!isJsonObject(value)) throw this.wrong(key, 'must be a mapping');
    refuseUnsayable(value, `${this.path}.${key}`);
    return value;
  }

  list(key: string): readonly unknown[] {
    const value = this.raw(key) ?? [];
    if (!Array.isArray(value)) throw this.wrong(key, 'must be a list');
    return value;
  }

  inner(key: string): Fields {
    return new Fields(this.record(key), `${this.path}.${key}`, this.unknown);
  }

  records(key: string): readonly Fields[] {
    return this.list(key).map((each, index) => {
      if (!isJsonObject(each)) throw this.wrong(`${key}[${index}]`, 'must be a mapping');
      return this.entry(each, `${key}[${index}]`);
    });
  }

  /** The reader of a mapping that is nested in this one at `place`. */
  entry(value: JsonObject, place: string): Fields {
    return new Fields(value, `${this.path}.${place}`, this.unknown);
  }

  /** Records the unknown keys. Call it after all known keys have been read. */
  end(): void {
    for (const key of Object.keys(this.value)) {
      if (!this.asked.has(key))
        this.unknown.push(`${this.path === '' ? '' : `${this.path}.`}${key.slice(0, SHOWN_CHARACTERS_MAX)}`);
    }
  }

  wrong(key: string, problem: string): Rejection {
    return fileRefused(`${this.path === '' ? '' : `${this.path}.`}${key} ${problem}`);
  }
}

/** Refuses numbers that JSON cannot represent, and the key `__proto__`. */
function refuseUnsayable(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw fileRefused(`${path} contains a number that JSON cannot represent`);
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw fileRefused(`${path} holds a key that is not allowed: __proto__`);
  for (const each of Object.values(value)) refuseUnsayable(each, path);
}

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
  const name = spec.text('name').trim();
  if (name === '') throw fileRefused('spec.name is required');
  const agentType = spec.text('agent_type') || 'classic';
  const workflow = workflowIn(spec, agentType);
  const file: Omit<AgentFile, 'unknownKeys'> = {
    id: metadata.text('id'),
    slug: metadata.text('slug'),
    name,
    description: spec.text('description', TEXT_CHARACTERS_MAX),
    agentType,
    workflow,
    ...listsIn(spec),
    ...modelsIn(spec),
    retriever: spec.text('retriever') || undefined,
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
  const isGiven = spec.has('workflow');
  const given = spec.raw('workflow');
  if (!isGiven || agentType !== 'workflow') return undefined;
  if (given === undefined) return null;
  if (!isJsonObject(given)) throw fileRefused('spec.workflow must be a mapping');
  if (!Array.isArray(given['nodes']) || !Array.isArray(given['edges'])) {
    throw fileRefused('spec.workflow.nodes and spec.workflow.edges must be lists');
  }
  if (given['nodes'].length > GRAPH_NODES_MAX) throw fileRefused(`Too many workflow nodes (max ${GRAPH_NODES_MAX})`);
  if (given['edges'].length > GRAPH_EDGES_MAX) throw fileRefused(`Too many workflow edges (max ${GRAPH_EDGES_MAX})`);
  const workflow = spec.inner('workflow');
  const result = {
    name: workflow.text('name'),
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
  const read = { name: source.text('name', 1000), type: source.text('type'), ref: source.text('ref') };
  if (read.name === '') throw source.wrong('name', 'is required');
  source.end();
  return read;
}

function toolIn(tool: Fields): FileTool {
  const type = tool.text('type');
  if (type === '') throw tool.wrong('type', 'is required');
  const ref = tool.text('ref');
  if (tool.flag('builtin')) {
    tool.end();
    return { builtin: true, type, ref };
  }
  const config = tool.record('config');
  const actions = config['actions'];
  if (type === 'api_tool' && isJsonObject(actions) && Object.keys(actions).length > FILE_ACTIONS_MAX) {
    throw fileRefused(`Too many api_tool actions (max ${FILE_ACTIONS_MAX})`);
  }
  const secrets = tool.raw('requires_secrets') === undefined ? undefined : tool.list('requires_secrets');
  if (secrets?.some((each) => typeof each !== 'string')) throw tool.wrong('requires_secrets', 'must be a list of names');
  const read: FileOwnTool = {
    builtin: false,
    type,
    name: tool.text('name'),
    display_name: tool.text('display_name'),
    description: tool.text('description', TEXT_CHARACTERS_MAX),
    config,
    actions: choicesIn(tool),
    requires_secrets: secrets as readonly string[] | undefined,
    ref,
  };
  tool.end();
  return read;
}

/**
 * The owner's settings for the actions that a kind of tool has. The definitions of actions, which only some kinds have, are in
 * `config`.
 */
function choicesIn(tool: Fields): readonly PortableChoice[] {
  if (tool.list('actions').length > 2 * FILE_ACTIONS_MAX)
    throw tool.wrong('actions', `must have at most ${2 * FILE_ACTIONS_MAX} entries`);
  return tool.records('actions').map((choice): PortableChoice => {
    const name = choice.text('name');
    if (name === '') throw choice.wrong('name', 'is required');
    const [active, approval, access] = [choice.flag('active'), choice.flag('require_approval'), choice.raw('access')];
    if (access !== undefined && access !== 'read' && access !== 'write') throw choice.wrong('access', 'must be read or write');
    const parameters = parametersIn(choice);
    choice.end();
    return {
      name,
      ...(active !== undefined && { active }),
      ...(approval !== undefined && { require_approval: approval }),
      ...(access !== undefined && { access }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
  });
}

const GROUPS = ['parameters', 'query_params', 'headers', 'body'] as const;

/** Tools that describe HTTP requests group their parameters. The settings have the same form in each group. */
function parametersIn(choice: Fields): NonNullable<PortableChoice['parameters']> {
  const named = GROUPS.flatMap((group) =>
    Object.entries(choice.record(group)).map(([name, given]) => {
      if (!isJsonObject(given)) throw choice.wrong(`${group}.${name}`, 'must be a mapping');
      const { filled_by_llm: filled, value } = given;
      if (filled !== undefined && typeof filled !== 'boolean') throw choice.wrong(`${group}.${name}`, 'must say true or false');
      return [
        name,
        { ...(filled !== undefined && { filled_by_llm: filled }), ...(value !== undefined && value !== null && { value }) },
      ] as const;
    }),
  );
  return Object.fromEntries(named);
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
  const defaultModel = model.text('default');
  model.end();
  return { models, defaultModel };
}

function customModelIn(model: Fields): FileCustomModel {
  if (model.raw('type') !== 'custom') throw model.wrong('type', "must be 'custom'");
  const read = {
    display_name: model.text('display_name').trim(),
    upstream_model_id: model.text('upstream_model_id').trim(),
    base_url: model.text('base_url', 2048).trim(),
    capabilities: model.record('capabilities'),
    ref: model.text('ref'),
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
  const read = { name: prompt.text('name'), content: prompt.text('content', PROMPT_CONTENT_CHARACTERS_MAX) };
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
