import type { ActionDefinition, ParameterDefinition } from './tool.events.js';
import { ToolFailed } from './tool-kind.port.js';

/** The arguments that a model filled. Unambiguous values of a wrong type are converted; others are reported to the model. */
export type CallArguments = Readonly<Record<string, unknown>>;

export function textArgument(args: CallArguments, name: string): string {
  const value = args[name];
  if (typeof value === 'string') return value;
  throw new ToolFailed(`The argument \`${name}\` must be given, as a string.`);
}

export function numberArgument(args: CallArguments, name: string): number {
  const value = args[name];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw new ToolFailed(`The argument \`${name}\` must be given, as a whole number.`);
}

/** A pair of whole numbers, or undefined if it is left out. @throws ToolFailed */
export function rangeArgument(args: CallArguments, name: string): readonly [number, number] | undefined {
  const value = args[name];
  if (isLeftOut(value)) return undefined;
  if (Array.isArray(value) && value.length === 2) {
    return [numberArgument({ [name]: value[0] as unknown }, name), numberArgument({ [name]: value[1] as unknown }, name)];
  }
  throw new ToolFailed(`The argument \`${name}\` must be a pair of whole numbers.`);
}

export const isLeftOut = (value: unknown): value is undefined | null => value === undefined || value === null;

/** A parameter that the model fills. */
export type FilledParameter = Readonly<{ type: string; description: string; optional?: true; [keyword: string]: unknown }>;

/** An idempotent action whose parameters are all filled by the model. */
export function filledAction(
  name: string,
  description: string,
  access: 'read' | 'write',
  parameters: Readonly<Record<string, FilledParameter>>,
): ActionDefinition {
  const entries = Object.entries(parameters).map(([parameter, { optional, ...schema }]) => {
    const definition: ParameterDefinition = { ...schema, filled_by_llm: true, required: !optional };
    return [parameter, definition] as const;
  });
  const required = Object.entries(parameters).flatMap(([parameter, { optional }]) => (optional ? [] : [parameter]));
  return {
    name,
    description,
    active: true,
    access,
    idempotent: true,
    parameters: { type: 'object', properties: Object.fromEntries(entries), required },
  };
}

/** The error for an action that the kind does not have. */
export const unknownAction = (name: string): ToolFailed => new ToolFailed(`There is no action ${name}.`);
