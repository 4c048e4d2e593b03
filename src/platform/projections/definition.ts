import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Projection, schemaOf } from '../../../projections/projection.js';
import { currentVersion } from '../../kernel/event-sourcing/codec.js';

/** A projection with its tables at hand. */
export type Definition = Readonly<{
  projection: Projection;
  schema: string;
  ddl: string;
  /** Changes with anything that makes rows written before it different from rows written after it. */
  fingerprint: string;
}>;

/** The tables were made by another version of the projection, so its statements may not fit them. */
export class DefinitionChanged extends Error {
  override readonly name = 'DefinitionChanged';
  constructor(projection: string) {
    super(`The rows of ${projection} were made by another version of it: run \`npm run rebuild -- ${projection}\`.`);
  }
}

const known = new WeakMap<Projection, Promise<Definition>>();

/** Reads the tables of a projection, once. */
export function definitionOf(projection: Projection): Promise<Definition> {
  let definition = known.get(projection);
  if (!definition) known.set(projection, (definition = read(projection)));
  return definition;
}

async function read(projection: Projection): Promise<Definition> {
  const ddl = await readFile(projection.ddl, 'utf8');
  return { projection, schema: schemaOf(projection), ddl, fingerprint: fingerprintOf(projection, ddl) };
}

/** Of the tables, what is followed, the handled event types in their versions, and what the author of a handler declares. */
function fingerprintOf({ name, version = 1, categories, exceptCategories, codec, on, every }: Projection, ddl: string): string {
  const handled = Object.keys(on)
    .sort()
    .map((type) => `${type}@${currentVersion(codec, type)}`);
  const followed = [categories, exceptCategories].map((some) => some && [...some].sort());
  const parts = [name, version, followed, handled, every !== undefined, ddl.replaceAll(/\s+/g, ' ').trim()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
