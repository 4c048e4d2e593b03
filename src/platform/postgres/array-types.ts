import { parse } from 'postgres-array';
import type { PostgresType } from 'postgres';
import { asTimestamp, fromTimestamp } from '../../../projections/timestamps.js';

type Element = Readonly<{ array: number; parse?: (text: string) => unknown; serialize?: (value: unknown) => string }>;

/** The types of elements, with the object ids of their arrays, which are the same in every server. */
const ELEMENTS: Readonly<Record<string, Element>> = {
  bool: { array: 1000, parse: (text) => text === 't' },
  name: { array: 1003 },
  int2: { array: 1005, parse: Number },
  int4: { array: 1007, parse: Number },
  int8: { array: 1016 },
  text: { array: 1009 },
  float4: { array: 1021, parse: Number },
  float8: { array: 1022, parse: Number },
  timestamptz: { array: 1185, parse: fromTimestamp, serialize: (at) => asTimestamp(at as Date | string) },
  uuid: { array: 2951 },
  tsquery: { array: 3645 },
};

/**
 * The array types of the service's statements. The driver would ask the server for all array types at each connection, which takes
 * longer than to connect.
 */
export const ARRAY_TYPES: Readonly<Record<string, PostgresType>> = Object.fromEntries(
  Object.entries(ELEMENTS).map(([name, { array, parse: element, serialize = String }]) => [
    `${name}[]`,
    {
      to: array,
      from: [array],
      parse: (text: string) => (element ? parse(text, element) : parse(text)),
      serialize: (values: readonly unknown[]) => `{${values.map((value) => quoted(value, serialize)).join(',')}}`,
    },
  ]),
);

function quoted(value: unknown, serialize: (value: unknown) => string): string {
  if (value === undefined) throw new TypeError('An array for Postgres has an undefined element.');
  return value === null ? 'null' : `"${serialize(value).replace(/["\\]/g, String.raw`\$&`)}"`;
}
