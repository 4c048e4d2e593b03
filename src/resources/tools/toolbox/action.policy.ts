import { accessOf } from './access.policy.js';
import type { ActionDefinition, ParameterDefinition, ParametersDefinition } from './tool.events.js';

/** A parameter that has a value or is marked as not filled by the model is fixed; models do not see it. */
const isFilledByModel = ({ filled_by_llm: filled, value }: ParameterDefinition): boolean => filled ?? value === undefined;

const filledNames = ({ properties }: ParametersDefinition): readonly string[] =>
  Object.entries(properties).flatMap(([name, parameter]) => (isFilledByModel(parameter) ? [name] : []));

/**
 * The JSON Schema of a parameter: without our own keywords, and without `required` as a boolean, which JSON Schema has only as a
 * list.
 */
function schemaOf({ filled_by_llm: _, value: __, required, ...schema }: ParameterDefinition): object {
  return Array.isArray(required) ? { ...schema, required } : schema;
}

type ModelParameters = Readonly<Record<string, unknown>>;

/** The parameters of each definition as models see them. Definitions are immutable. */
const shown = new WeakMap<ActionDefinition, ModelParameters>();

/** The JSON Schema of the parameters that the model fills. */
export function modelParameters(action: ActionDefinition): ModelParameters {
  const known = shown.get(action);
  if (known) return known;
  const made = schemaOfFilled(action.parameters);
  shown.set(action, made);
  return made;
}

function schemaOfFilled(parameters: ParametersDefinition): ModelParameters {
  const { type, properties, required, ...keywords } = parameters;
  const filled = filledNames(parameters);
  const needed = filled.filter((name) => properties[name]?.required === true || required?.includes(name));
  return {
    ...keywords,
    type,
    properties: Object.fromEntries(filled.map((name) => [name, schemaOf(properties[name]!)])),
    ...(needed.length > 0 && { required: needed }),
  };
}

/** The arguments of a call: those that the model filled, and the fixed values, which a model cannot replace. */
export function completeArguments(
  { parameters: { properties } }: ActionDefinition,
  filled: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const fixed = Object.entries(properties).filter(([, parameter]) => !isFilledByModel(parameter));
  const hidden = new Set(fixed.map(([name]) => name));
  const values = fixed.map(([name, { value, default: otherwise }]) => [name, value ?? otherwise] as const);
  return Object.fromEntries([
    ...Object.entries(filled).filter(([name]) => !hidden.has(name)),
    ...values.filter(([, value]) => value !== undefined),
  ]);
}

/** The choices of an owner about an action; its other fields come from its kind or its server. */
export type ActionChoice = Readonly<{ name: string }> & Partial<ActionDefinition>;

const SWITCHES = ['active', 'require_approval'] as const;
const FIXED_VALUES = ['filled_by_llm', 'value', 'default'] as const;

/**
 * Applies the choices of an owner to the actions of a kind or a server. An action without a choice stays unchanged. With `texts`,
 * the owner's descriptions replace the given ones; without it, the new descriptions of a server win.
 */
export function chosenActions(
  kind: string,
  actions: readonly ActionDefinition[],
  choices: readonly ActionChoice[],
  { texts }: Readonly<{ texts: boolean }>,
): readonly ActionDefinition[] {
  const byName = new Map(choices.map((choice) => [choice.name, choice]));
  return actions.map((action) => {
    const choice = byName.get(action.name);
    return choice ? chosen(kind, action, choice, texts ? ['description'] : []) : action;
  });
}

function chosen(kind: string, action: ActionDefinition, choice: ActionChoice, texts: readonly 'description'[]): ActionDefinition {
  const { access: said, ...rest } = action;
  const access = choice.access ?? said;
  // Clients send back what they were shown. An access that equals the derived one is not a choice of the owner.
  const decided = access !== undefined && access !== accessOf(kind, action);
  const properties = Object.entries(action.parameters.properties).map(([name, parameter]) => {
    const wanted = own(choice.parameters?.properties, name);
    return [name, { ...parameter, ...(wanted && picked(wanted, [...FIXED_VALUES, ...texts])) }] as const;
  });
  return {
    ...(rest as ActionDefinition),
    ...(said !== undefined && { access: said }),
    ...picked(choice, [...SWITCHES, ...texts]),
    ...(decided && { access }),
    parameters: { ...action.parameters, properties: Object.fromEntries(properties) },
  };
}

const picked = <T extends object>(from: T, names: readonly (keyof T)[]): Partial<T> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Partial<T>;

const own = <T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  values && Object.hasOwn(values, name) ? values[name] : undefined;
