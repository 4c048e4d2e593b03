import { _, Ajv2020, type CodeKeywordDefinition, type ErrorObject, Name, type Options } from 'ajv/dist/2020.js';
import { canonicalText } from '../../../kernel/event-sourcing/fingerprints.js';

/** Maximum number of references that one validation follows. Without references, the sizes of schema and value bound the work. */
export const REFERENCES_FOLLOWED_MAX = 100_000;

/** A value cannot be validated because the schema recurses endlessly or needs too many references. */
export class SchemaWithoutEnd extends Error {
  override readonly name = 'SchemaWithoutEnd';
}

/** Validates a value and returns its errors; an empty list means that it is valid. @throws SchemaWithoutEnd */
export type SchemaErrors = (value: unknown) => readonly ErrorObject[];

/**
 * Compiles an untrusted schema in time linear in its size. With Ajv's defaults (inlined references, nested checks, optimized
 * code), a schema of 64 KiB can take minutes. @throws Error for an invalid schema
 */
export function compiledSchema(
  schema: object,
  options: Options = {},
  extend: (ajv: Ajv2020) => void = () => undefined,
): SchemaErrors {
  // References that Ajv follows in the meta-schema while it compiles are not counted.
  let left = Infinity;
  const follow = () => {
    if (--left < 0) throw new SchemaWithoutEnd('The schema needs too many references.');
  };
  const bounds: Options = { allErrors: true, inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, logger: false, ...options, ...bounds });
  extend(ajv);
  countReferences(ajv, follow);
  compareByText(ajv);
  dropFailedConditions(ajv);
  lookUpEvaluated(ajv);
  const validate = ajv.compile(schema);
  return (value) => {
    left = REFERENCES_FOLLOWED_MAX;
    try {
      return validate(value) ? [] : (validate.errors ?? []);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new SchemaWithoutEnd('The schema refers to itself without an end.', { cause: error });
    }
  };
}

function countReferences(ajv: Ajv2020, follow: () => void): void {
  const reference = ajv.getKeyword('$ref') as CodeKeywordDefinition;
  ajv.removeKeyword('$ref').addKeyword({
    ...reference,
    code(context) {
      context.gen.code(_`${context.gen.scopeValue('func', { ref: follow })}()`);
      reference.code(context);
    },
  });
}

/** The keywords that use or extend the set of evaluated properties, some only if a part of the schema accepts the value. */
const USES_EVALUATED = ['anyOf', 'oneOf', 'allOf', 'if', 'dependentSchemas', 'unevaluatedProperties'];

/**
 * Collects the names of evaluated properties in a table while validating. Ajv knows some of them before, and builds one condition
 * that compares a name with each of them, which takes seconds for a thousand names. It also forgets those names if a part of the
 * schema that could evaluate more of them does not accept the value.
 */
function lookUpEvaluated(ajv: Ajv2020): void {
  for (const name of USES_EVALUATED) {
    const keyword = ajv.getKeyword(name) as CodeKeywordDefinition;
    ajv.removeKeyword(name).addKeyword({
      ...keyword,
      code(context) {
        const { gen, it } = context;
        if (it.props !== true && !(it.props instanceof Name)) {
          const known = gen.scopeValue('obj', { ref: it.props ?? {} });
          // Without a prototype, so that `constructor` is not a known name.
          it.props = gen.var('props', _`Object.assign(Object.create(null), ${known})`);
        }
        keyword.code(context);
      },
    });
  }
}

/** Replaces Ajv's `if`, which counts what a failed condition evaluates, and ignores a condition without `then` and `else`. */
function dropFailedConditions(ajv: Ajv2020): void {
  const keyword = ajv.getKeyword('if') as CodeKeywordDefinition;
  ajv.removeKeyword('if').addKeyword({
    ...keyword,
    code(context) {
      const { gen, parentSchema } = context;
      const valid = gen.let('valid', true);
      // Ajv's error names the clause that does not accept the value.
      const ifClause = gen.let('ifClause');
      const holds = gen.name('_valid');
      const condition = { keyword: 'if', compositeRule: true, createErrors: false, allErrors: false } as const;
      context.mergeValidEvaluated(context.subschema(condition, holds), holds);
      context.reset();
      const clause = (keyword: string) => () => {
        if (parentSchema[keyword] === undefined) return;
        const accepts = gen.name('_valid');
        const checked = context.subschema({ keyword }, accepts);
        gen.assign(valid, accepts);
        gen.assign(ifClause, _`${keyword}`);
        context.mergeValidEvaluated(checked, accepts);
      };
      gen.if(holds, clause('then'), clause('else'));
      context.setParams({ ifClause });
      context.pass(valid);
    },
  });
}

/** Replaces Ajv's `uniqueItems`, which compares every pair of items, by a comparison in linear time. */
function compareByText(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (isAsked: boolean, items: readonly unknown[]) =>
      !isAsked || new Set(items.map(canonicalText)).size === items.length,
  });
}
