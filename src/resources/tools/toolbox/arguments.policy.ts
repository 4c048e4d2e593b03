import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { modelParameters } from './action.policy.js';
import type { ActionDefinition } from './tool.events.js';

export const PARAMETERS_DEPTH_MAX = 40;
/** Of the values in one call. */
export const MENDED_MAX = 20;

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Regular expressions, one of which can take longer than anybody waits, and what is said only about the schema itself. */
const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', '$schema', '$id']);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired']);
const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** The part of a schema that is checked here; the rest is left to the called service. */
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

/** Arguments as an action takes them, or what keeps them from being so, in words that help to mend them. */
export type FittedArguments = Readonly<{ args: Schema } | { problem: string }>;

/**
 * Models write nothing where they leave something out, and now and then a number as text or text as a number: that much is
 * understood. Everything else they have to mend themselves.
 */
export function fitted(action: ActionDefinition, given: Schema): FittedArguments {
  const validate = compiledOf(action);
  const { required = [] } = modelParameters(action) as { required?: readonly string[] };
  const filled = Object.entries(given).filter(([name, value]) => value !== null || required.includes(name));
  const args = structuredClone(Object.fromEntries(filled));
  for (let mended = 0; !validate(args); mended++) {
    const problem = validate.errors![0]!;
    if (mended === MENDED_MAX || !mend(args, problem)) return { problem: wordsFor(problem) };
  }
  return { args };
}

function wordsFor({ instancePath, message = 'is wrong', keyword, params }: ErrorObject): string {
  const what = instancePath === '' ? 'The arguments' : `The argument ${instancePath.slice(1).replaceAll('/', '.')}`;
  const { allowedValues, additionalProperty } = params as { allowedValues?: readonly unknown[]; additionalProperty?: string };
  const more = { enum: `: ${allowedValues?.map(String).join(', ')}`, additionalProperties: `: ${additionalProperty}` }[keyword];
  return `${what} ${message}${more ?? ''}.`;
}

/** Puts the value that was meant in the place of the one that was written; false where none can be told. */
function mend(args: Schema, { keyword, instancePath, params }: ErrorObject): boolean {
  const names = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop();
  if (keyword !== 'type' || last === undefined) return false;
  const holder = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], args) as Record<string, unknown>;
  const meant = asType((params as { type: unknown }).type, holder[last]);
  if (meant === undefined) return false;
  holder[last] = meant;
  return true;
}

function asType(type: unknown, value: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  if (type === 'boolean') return { true: true, false: false }[value.trim().toLowerCase()];
  const number = /^\s*-?\d[\d.eE+-]*\s*$/.test(value) ? Number(value) : Number.NaN;
  if (type === 'number') return Number.isFinite(number) ? number : undefined;
  return type === 'integer' && Number.isSafeInteger(number) ? number : undefined;
}
