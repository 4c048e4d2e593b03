import { normalSchema } from '../models/model/response-schema.policy.js';
import { Rejection } from '../../kernel/rejection.js';
import { ELSE_HANDLE, isNodeType, type NodeType, type WorkflowNode } from './workflow-graph.policy.js';
import { isJsonObject } from '../json-object.policy.js';

const AGENT_NODE_TYPES = ['classic', 'react', 'agentic', 'research'] as const;
const FILE_PASSINGS = ['auto', 'native', 'extract'] as const;
const CONDITION_MODES = ['simple', 'advanced'] as const;

type AgentNodeType = (typeof AGENT_NODE_TYPES)[number];
type FilePassing = (typeof FILE_PASSINGS)[number];

type StateOperation = Readonly<{ expression: string; targetVariable: string }>;

export type ConditionCase = Readonly<{ name: string; expression: string; sourceHandle: string }>;

type Schema = Readonly<Record<string, unknown>>;

/** The settings of an agent node with defaults filled in. Empty texts and lists mean that nothing is set. */
export type AgentNodeConfig = Readonly<{
  agentType: AgentNodeType;
  systemPrompt: string;
  promptTemplate: string;
  outputVariable: string;
  streamToUser: boolean;
  tools: readonly string[];
  sources: readonly string[];
  chunks: number;
  retriever: string;
  modelId: string;
  jsonSchema: Schema | null;
  /** Variables of the state, ids or short references of artifacts; `*` or `input_documents` for all. */
  inputDocuments: readonly string[];
  filePassing: FilePassing;
}>;

export type CodeNodeConfig = Readonly<{
  code: string;
  inputs: readonly string[];
  outputVariable: string;
  /** Null means the service's default. */
  timeoutSeconds: number | null;
  jsonSchema: Schema | null;
}>;

/** The parsed settings of a node, by its type. */
export type NodeConfig =
  | Readonly<{ type: 'start' | 'note' }>
  | Readonly<{ type: 'end'; outputTemplate: string }>
  | (Readonly<{ type: 'agent' }> & AgentNodeConfig)
  | Readonly<{ type: 'state'; operations: readonly StateOperation[] }>
  | Readonly<{ type: 'condition'; mode: 'simple' | 'advanced'; cases: readonly ConditionCase[] }>
  | (Readonly<{ type: 'code' }> & CodeNodeConfig);

export type NodeConfigOf<Type extends NodeType> = Extract<NodeConfig, { type: Type }>;

const CHUNKS_OF_NODES_DEFAULT = 2;
const CHUNKS_OF_NODES_MAX = 500;
const ENTRIES_MAX = 200;
const CASES_MAX = 50;
const OPERATIONS_MAX = 50;
const NAME_CHARACTERS_MAX = 200;
const TEXT_CHARACTERS_MAX = 100_000;
const EXPRESSION_CHARACTERS_MAX = 10_000;
const TIMEOUT_SECONDS_MAX = 3_600;

/**
 * The settings of a node and their problems. Invalid settings have their defaults. `config` is undefined if the type is unknown.
 */
export type ReadConfig = Readonly<{ config: NodeConfig | undefined; problems: readonly string[] }>;

/** The settings of a node whose graph was checked before; invalid settings have their defaults. Undefined for an unknown type. */
export const nodeConfigOf = (node: Pick<WorkflowNode, 'type' | 'data'>): NodeConfig | undefined => readNodeConfig(node).config;

/** Reads the settings of a node from `data.config` if that is an object, otherwise from `data` itself. */
export function readNodeConfig({ type, data }: Pick<WorkflowNode, 'type' | 'data'>): ReadConfig {
  if (!isNodeType(type)) return { config: undefined, problems: [] };
  const problems: string[] = [];
  const nested = data['config'];
  if (nested !== undefined && nested !== null && !isJsonObject(nested)) problems.push('config must be an object');
  const settings = new Settings(isJsonObject(nested) ? nested : data, problems);
  return { config: READERS[type](settings), problems };
}

/** Reads settings from the given data. An invalid setting adds a problem and gets its default. */
class Settings {
  constructor(
    private readonly written: Readonly<Record<string, unknown>>,
    private readonly problems: string[],
  ) {}

  problem(text: string): void {
    this.problems.push(text);
  }

  text(name: string, charactersMax = TEXT_CHARACTERS_MAX): string {
    const value = this.at(name);
    if (value === undefined) return '';
    if (typeof value !== 'string') return this.wrong('', `${name} must be a text`);
    if (value.length > charactersMax) return this.wrong('', `${name} must have at most ${charactersMax} characters`);
    return value;
  }

  oneOf<Value extends string>(name: string, values: readonly [Value, ...Value[]]): Value {
    const value = this.at(name);
    if (value === undefined || value === '') return values[0];
    const known = values.find((each) => each === value);
    return known ?? this.wrong(values[0], `${name} must be one of ${values.join(', ')}`);
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.at(name);
    if (value === undefined) return otherwise;
    return typeof value === 'boolean' ? value : this.wrong(otherwise, `${name} must be a boolean`);
  }

  /** Accepts numbers as text, because web clients send the content of text fields. */
  number<Default>(name: string, otherwise: Default, [min, max]: readonly [number, number], isWhole: boolean): number | Default {
    const value = this.at(name);
    if (value === undefined || value === '') return otherwise;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isNumber = typeof number === 'number' && (isWhole ? Number.isInteger(number) : Number.isFinite(number));
    if (isNumber && number >= min && number <= max) return number;
    return this.wrong(otherwise, `${name} must be a ${isWhole ? 'whole ' : ''}number between ${min} and ${max}`);
  }

  /** A list of distinct texts. A single text is read as a list of one. */
  texts(name: string): readonly string[] {
    const value = this.at(name);
    const entries = typeof value === 'string' ? [value] : (value ?? []);
    if (!Array.isArray(entries) || !entries.every((each) => typeof each === 'string'))
      return this.wrong([], `${name} must be a list of texts`);
    const distinct = [...new Set(entries.map((each) => each.trim()).filter((each) => each !== ''))];
    if (distinct.length > ENTRIES_MAX) return this.wrong([], `${name} must hold at most ${ENTRIES_MAX} entries`);
    if (distinct.some((each) => each.length > NAME_CHARACTERS_MAX))
      return this.wrong([], `${name} must hold texts of at most ${NAME_CHARACTERS_MAX} characters`);
    return distinct;
  }

  /** A list of objects, each as `Settings`. */
  objects(name: string, max: number): readonly Settings[] {
    const value = this.at(name) ?? [];
    if (!Array.isArray(value)) return this.wrong([], `${name} must be a list`);
    if (value.length > max) return this.wrong([], `${name} must hold at most ${max} entries`);
    return value.flatMap((each: unknown, at) =>
      isJsonObject(each) ? new Settings(each, this.problems) : this.wrong([], `${name} ${at + 1} must be an object`),
    );
  }

  variable(name: string): string {
    const variable = this.text(name, NAME_CHARACTERS_MAX).trim();
    return RESERVED_NAMES.has(variable) ? this.wrong('', `${name} must not be ${variable}`) : variable;
  }

  schema(): Schema | null {
    try {
      return normalSchema(this.at('json_schema') ?? null);
    } catch (error) {
      if (error instanceof Rejection) return this.wrong(null, error.message);
      throw error;
    }
  }

  private at(name: string): unknown {
    return Object.hasOwn(this.written, name) && this.written[name] !== null ? this.written[name] : undefined;
  }

  private wrong<Value>(otherwise: Value, problem: string): Value {
    this.problems.push(problem);
    return otherwise;
  }
}

/** Properties of JavaScript objects, which are not allowed as names of variables. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const READERS: Readonly<Record<NodeType, (settings: Settings) => NodeConfig>> = {
  start: () => ({ type: 'start' }),
  note: () => ({ type: 'note' }),
  end: (settings) => ({ type: 'end', outputTemplate: settings.text('output_template') }),
  agent: (settings) => ({
    type: 'agent',
    agentType: settings.oneOf('agent_type', AGENT_NODE_TYPES),
    systemPrompt: settings.text('system_prompt'),
    promptTemplate: settings.text('prompt_template'),
    outputVariable: settings.variable('output_variable'),
    streamToUser: settings.flag('stream_to_user', true),
    tools: settings.texts('tools'),
    sources: settings.texts('sources').filter((id) => id !== 'default'),
    chunks: settings.number('chunks', CHUNKS_OF_NODES_DEFAULT, [0, CHUNKS_OF_NODES_MAX], true),
    retriever: settings.text('retriever', NAME_CHARACTERS_MAX),
    modelId: settings.text('model_id', NAME_CHARACTERS_MAX).trim(),
    jsonSchema: settings.schema(),
    inputDocuments: settings.texts('input_documents'),
    filePassing: settings.oneOf('file_passing', FILE_PASSINGS),
  }),
  state: (settings) => ({ type: 'state', operations: operationsIn(settings) }),
  condition: (settings) => ({
    type: 'condition',
    mode: settings.oneOf('mode', CONDITION_MODES),
    cases: settings.objects('cases', CASES_MAX).flatMap((each) => caseIn(each) ?? []),
  }),
  code: (settings) => ({
    type: 'code',
    code: codeIn(settings),
    inputs: settings.texts('inputs'),
    outputVariable: settings.variable('output_variable'),
    timeoutSeconds: settings.number('timeout', null, [0.001, TIMEOUT_SECONDS_MAX], false),
    jsonSchema: settings.schema(),
  }),
};

function codeIn(settings: Settings): string {
  const code = settings.text('code');
  if (code.trim() === '') settings.problem('must have code to run');
  return code;
}

/** Drops operations with neither expression nor target variable. */
const operationsIn = (settings: Settings): readonly StateOperation[] =>
  settings.objects('operations', OPERATIONS_MAX).flatMap((each, at) => {
    const operation = { expression: expressionIn(each), targetVariable: each.variable('target_variable') };
    const { expression, targetVariable } = operation;
    if (expression !== '' && targetVariable !== '') return [operation];
    if (expression !== '') settings.problem(`operation ${at + 1} has an expression but no target variable`);
    if (targetVariable !== '') settings.problem(`operation ${at + 1} has a target variable but no expression`);
    return [];
  });

/** Keeps a case without an expression, so that an edge of its branch can be reported as a problem. */
function caseIn(settings: Settings): ConditionCase | undefined {
  const expression = expressionIn(settings);
  const sourceHandle = settings.text('sourceHandle', NAME_CHARACTERS_MAX).trim();
  if (sourceHandle === '') settings.problem('has a case without a branch handle');
  if (sourceHandle === ELSE_HANDLE)
    settings.problem(`has a case with the handle ${ELSE_HANDLE}, which is the branch of all others`);
  if (sourceHandle === '' || sourceHandle === ELSE_HANDLE) return undefined;
  return { name: settings.text('name', NAME_CHARACTERS_MAX), expression, sourceHandle };
}

const expressionIn = (settings: Settings): string => settings.text('expression', EXPRESSION_CHARACTERS_MAX).trim();
