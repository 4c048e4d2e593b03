type Schema = Readonly<Record<string, unknown>>;

/** The property of the wrapping object that holds a value of another type. */
const VALUE = 'value';

/** Whether the schema allows only objects at its root. Many endpoints accept no other response schemas. */
export const hasObjectRoot = (schema: object): boolean => (schema as Schema)['type'] === 'object';

/** Wraps a schema for endpoints that accept only objects: any other schema becomes that of the only property of an object. */
export function withObjectRoot(schema: object): object {
  if (hasObjectRoot(schema)) return schema;
  const { $schema, $id: _, $defs, definitions, ...root } = moved(schema) as Schema;
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [VALUE]: root },
    required: [VALUE],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** Unwraps the value that a model wrote for such a schema; undefined if the model wrote something else. */
export function valueInObjectRoot(written: unknown): Readonly<{ value: unknown }> | undefined {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return undefined;
  const keys = Object.keys(written);
  return keys.length === 1 && keys[0] === VALUE ? { value: (written as Schema)[VALUE] } : undefined;
}

/** Rewrites references to the root so that they point to its new place. */
function moved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(moved);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) =>
      keyword === '$ref' && value === '#' ? [keyword, `#/properties/${VALUE}`] : [keyword, moved(value)],
    ),
  );
}
