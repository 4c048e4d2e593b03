import { Rejection } from '../../../kernel/rejection.js';
import type { ActionChoice } from './action.policy.js';
import { problemOfParameters } from './arguments.policy.js';
import type { ActionDefinition, ToolDefinition } from './tool.events.js';
import { isJsonObject } from '../../json-object.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

export const TOOL_NAME_CHARACTERS_MAX = 200;
export const TOOL_DESCRIPTION_CHARACTERS_MAX = 10_000;
export const ACTION_NAME_CHARACTERS_MAX = 128;
export const ACTIONS_PER_TOOL_MAX = 200;
export const DEFINITION_BYTES_MAX = 256 * 1024;
export const SECRETS_BYTES_MAX = 64 * 1024;
export const TOOLS_PER_USER_MAX = 200;

/** The function names that model endpoints accept. */
const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The rejection of a tool, with the errors by field. */
export const invalid = (errors: Readonly<Record<string, string>>) =>
  new Rejection('tool-invalid', 'Validation failed', { errors });

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const tooLarge = () =>
  new Rejection('tool-too-large', `A tool may take at most ${DEFINITION_BYTES_MAX} bytes with everything that it is defined by.`);

export function refuseLarge(part: unknown): void {
  if (bytesOf(part) > DEFINITION_BYTES_MAX) throw tooLarge();
}

/** Checks the names of functions that owners define in the configuration. @throws Rejection tool-invalid */
export function refuseFunctionNames(config: Readonly<Record<string, unknown>>): void {
  const { actions } = config;
  const wrong = isJsonObject(actions) ? Object.keys(actions).find((name) => !FUNCTION_NAME.test(name)) : undefined;
  if (wrong === undefined) return;
  const text = `Invalid function name '${cutText(wrong, ACTION_NAME_CHARACTERS_MAX)}': only letters, digits, _ and - are allowed, at most 64 of them.`;
  throw new Rejection('tool-invalid', text, { param: 'tools[].function.name' });
}

/** Checks that a definition can be stored and offered. @throws Rejection tool-too-large, tool-invalid */
export function checked(definition: ToolDefinition, secrets: Readonly<Record<string, string>>): ToolDefinition {
  refuseLarge(definition);
  if (bytesOf(secrets) > SECRETS_BYTES_MAX) throw tooLarge();
  const problem = problemOfActions(definition.actions);
  if (problem !== undefined) throw invalid({ actions: problem });
  return definition;
}

function problemOfActions(actions: readonly ActionDefinition[]): string | undefined {
  if (actions.length > ACTIONS_PER_TOOL_MAX) return `A tool may have at most ${ACTIONS_PER_TOOL_MAX} actions`;
  const names = new Set<string>();
  for (const action of actions) {
    const { name } = action;
    if (name === '' || name.length > ACTION_NAME_CHARACTERS_MAX || /\p{Cc}/u.test(name))
      return 'An action has a name that cannot be used';
    if (names.has(name)) return `There are two actions named ${name}`;
    names.add(name);
    const problem = problemOfParameters(action);
    if (problem !== undefined) return `The parameters of ${name} cannot be used: ${problem}`;
  }
  return undefined;
}

/** Parses the choices of an owner about the actions of a tool. @throws Rejection tool-invalid, with the field `actions` */
export function readChoices(given: unknown, known: readonly ActionDefinition[]): readonly ActionChoice[] {
  const refused = (problem: string) => invalid({ actions: problem });
  if (!Array.isArray(given)) throw refused('Actions must be a list');
  if (given.length > ACTIONS_PER_TOOL_MAX) throw refused(`A tool may have at most ${ACTIONS_PER_TOOL_MAX} actions`);
  const names = new Set(known.map(({ name }) => name));
  return given.map((choice: unknown): ActionChoice => {
    if (!isJsonObject(choice) || typeof choice['name'] !== 'string') throw refused('Every action needs a name');
    if (!names.has(choice['name']))
      throw refused(`This tool has no action ${cutText(choice['name'], ACTION_NAME_CHARACTERS_MAX)}`);
    const problem = problemOfChoice(choice);
    if (problem !== undefined) throw refused(`${choice['name']}: ${problem}`);
    return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== null)) as ActionChoice;
  });
}

function problemOfChoice(choice: Readonly<Record<string, unknown>>): string | undefined {
  const { active, require_approval: approval, access, description, parameters } = choice;
  for (const [name, value] of Object.entries({ active, require_approval: approval })) {
    if (value !== undefined && typeof value !== 'boolean') return `${name} must be true or false`;
  }
  if (access !== undefined && access !== null && access !== 'read' && access !== 'write') return 'access must be read or write';
  if (!isText(description)) return `description must be a text of at most ${TOOL_DESCRIPTION_CHARACTERS_MAX} characters`;
  if (parameters === undefined) return undefined;
  if (!isJsonObject(parameters) || !isJsonObject(parameters['properties'] ?? {}))
    return 'parameters must be an object with properties';
  for (const [name, parameter] of Object.entries(parameters['properties'] ?? {})) {
    if (!isJsonObject(parameter)) return `the parameter ${name} must be an object`;
    if (!isText(parameter['description'])) return `the description of ${name} must be a text`;
    const { filled_by_llm: filled } = parameter;
    if (filled !== undefined && typeof filled !== 'boolean') return `filled_by_llm of ${name} must be true or false`;
  }
  return undefined;
}

const isText = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.length <= TOOL_DESCRIPTION_CHARACTERS_MAX);
