import { Rejection } from '../../../kernel/rejection.js';
import type { ActionDefinition, ParameterDefinition, ParametersDefinition } from '../toolbox/tool.events.js';
import { isJsonObject } from '../../json-object.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

export const MCP_TOOLS_MAX = 200;
export const MCP_DESCRIPTION_CHARACTERS_MAX = 4096;
/** The size of all definitions of a server together, which are stored in one event. */
export const MCP_DEFINITIONS_BYTES_MAX = 192 * 1024;

/** A tool in the list of a server. */
export type ListedTool = Readonly<{
  name: string;
  description?: string | undefined;
  inputSchema: Readonly<Record<string, unknown>>;
  annotations?: Readonly<Record<string, unknown>> | undefined;
}>;

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint'] as const;

/** The actions for the tools that a server lists. @throws Rejection tool-invalid if they are too many or too large */
export function actionsOf(tools: readonly ListedTool[]): readonly ActionDefinition[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size > MCP_TOOLS_MAX) {
    throw new Rejection('tool-invalid', `The tool server offers more than ${MCP_TOOLS_MAX} tools.`);
  }
  const actions = [...byName.values()].map(actionOf);
  if (Buffer.byteLength(JSON.stringify(actions)) > MCP_DEFINITIONS_BYTES_MAX) {
    throw new Rejection('tool-invalid', `The tool server describes its tools in more than ${MCP_DEFINITIONS_BYTES_MAX} bytes.`);
  }
  return actions;
}

function actionOf({ name, description = '', inputSchema, annotations = {} }: ListedTool): ActionDefinition {
  const hints = HINTS.flatMap((hint) => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : []));
  return {
    name,
    description: cutText(description, MCP_DESCRIPTION_CHARACTERS_MAX),
    active: true,
    parameters: parametersOf(inputSchema),
    ...(hints.length > 0 && { annotations: Object.fromEntries(hints) as NonNullable<ActionDefinition['annotations']> }),
  };
}

function parametersOf(schema: Readonly<Record<string, unknown>>): ParametersDefinition {
  const { properties, required } = schema;
  const given = isJsonObject(properties) ? Object.entries(properties) : [];
  return {
    ...schema,
    type: 'object',
    properties: Object.fromEntries(given.map(([name, parameter]) => [name, parameterOf(parameter)])),
    required: Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [],
  };
}

/** In a JSON Schema `true` stands for any value; here it becomes an empty schema. */
const parameterOf = (schema: unknown): ParameterDefinition => ({
  ...(isJsonObject(schema) ? schema : {}),
  filled_by_llm: true,
  value: '',
});
