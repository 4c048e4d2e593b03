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

/**
 * Collects the names of evaluated properties in a table while validating. Ajv knows those of `allOf` before, and builds one
 * condition that compares a name with each of them, which takes seconds for a thousand names.
 */
function lookUpEvaluated(ajv: Ajv2020): void {
  for (const name of ['allOf', 'unevaluatedProperties']) {
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
