import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { modelParameters } from './action.policy.js';
import type { ActionDefinition } from './tool.events.js';

export const PARAMETERS_DEPTH_MAX = 40;
const PROBLEMS_MAX = 5;

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Regular expressions, one of which can take longer than anybody waits, and what is said only about the schema itself. */
const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', '$schema', '$id']);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** The part of a schema that is checked here; the rest is left to whoever is called. */
function checkable(node: unknown, depth = 0): unknown {
  if (depth > PARAMETERS_DEPTH_MAX) throw new RangeError(`They are nested deeper than ${PARAMETERS_DEPTH_MAX} levels.`);
  if (Array.isArray(node)) return node.map((each) => checkable(each, depth + 1));
  if (!isObject(node)) return node;
  const kept = Object.entries(node).filter(([keyword]) => !UNCHECKED.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (!SCHEMAS_BY_NAME.has(keyword) || !isObject(value)) return [keyword, checkable(value, depth + 1)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, checkable(each, depth + 1)]))];
    }),
  );
}

/** Definitions never change, so what one was compiled to goes when it goes. */
const compiled = new WeakMap<ActionDefinition, ValidateFunction>();

function compiledOf(action: ActionDefinition): ValidateFunction {
  const known = compiled.get(action);
  if (known) return known;
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, addUsedSchema: false });
  const validate = ajv.compile(checkable(modelParameters(action)) as Schema);
  compiled.set(action, validate);
  return validate;
}

/** Why no arguments could ever be checked against the parameters of an action; undefined: they can. */
export function problemOfParameters(action: ActionDefinition): string | undefined {
  try {
    compiledOf(action);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a model filled, without the nothing that models write where they leave something out. */
export function withoutNothing(action: ActionDefinition, args: Schema): Schema {
  const { required = [] } = modelParameters(action) as { required?: readonly string[] };
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => value !== null || required.includes(name)));
}

/** What keeps arguments from being what an action asks for, in words that help to mend them; none: they are. */
export function problemsOfArguments(action: ActionDefinition, args: Schema): readonly string[] {
  const validate = compiledOf(action);
  if (validate(args)) return [];
  return (validate.errors ?? []).slice(0, PROBLEMS_MAX).map(({ instancePath, message = 'is wrong', keyword, params }) => {
    const what = instancePath === '' ? 'The arguments' : `The argument ${instancePath.slice(1).replaceAll('/', '.')}`;
    const which = keyword === 'enum' ? `: ${(params as { allowedValues: unknown[] }).allowedValues.map(String).join(', ')}` : '';
    const extra = keyword === 'additionalProperties' ? `: ${(params as { additionalProperty: string }).additionalProperty}` : '';
    return `${what} ${message}${which}${extra}`;
  });
}
