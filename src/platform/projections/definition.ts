import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Projection, schemaOf } from '../../../projections/projection.js';
import { currentVersion } from '../../kernel/event-sourcing/codec.js';

/** A projection with the DDL of its tables. */
export type Definition = Readonly<{
  projection: Projection;
  schema: string;
  ddl: string;
  /** Identifies the version of the rows: it changes with everything that affects what is written. */
  fingerprint: string;
}>;

/** Another version of the projection created the tables, so the statements may not fit them. */
export class DefinitionChanged extends Error {
  override readonly name = 'DefinitionChanged';
  constructor(projection: string) {
    super(
      `The rows of ${projection} were made by another version of it. Without NATS_URL the service is rebuilding them; ` +
        `with it, run \`npm run rebuild -- ${projection}\`.`,
    );
  }
}

const known = new WeakMap<Projection, Promise<Definition>>();

/** The definition of a projection. Its DDL is read once. */
export function definitionOf(projection: Projection): Promise<Definition> {
  let definition = known.get(projection);
  if (!definition) known.set(projection, (definition = read(projection)));
  return definition;
}

async function read(projection: Projection): Promise<Definition> {
  const ddl = await readFile(projection.ddl, 'utf8');
  return { projection, schema: schemaOf(projection), ddl, fingerprint: fingerprintOf(projection, ddl) };
}

/**
 * Hashes the tables (without comments), the filter, the handled event types with their versions, and the version that the author
 * declares.
 */
function fingerprintOf({ name, version = 1, categories, exceptCategories, codec, on, every }: Projection, ddl: string): string {
  const handled = Object.keys(on)
    .sort()
    .map((type) => `${type}@${currentVersion(codec, type)}`);
  const followed = [categories, exceptCategories].map((some) => some && [...some].sort());
  const parts = [name, version, followed, handled, every !== undefined, withoutComments(ddl)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** No statement of a read model has `--` within a literal. */
const withoutComments = (ddl: string): string => ddl.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ').trim();
