import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Codec, currentVersion } from '../../src/kernel/event-sourcing/codec.js';
import { FRAME_EVENT } from '../../src/dialogue/journal/message.events.js';
import { USER_EVENT } from '../../src/views/notifications/user.events.js';

/** An event's data as some version of the program wrote it, under the category of its stream. */
export type Sample = Readonly<{
  category: string;
  /** Its path from the folder of all samples. */
  file: string;
  type: string;
  version: number;
  /** Its stream, if the name cannot be derived. */
  stream?: string;
  /** Metadata in addition to the usual cause. */
  metadata?: Readonly<Record<string, unknown>>;
  data: Readonly<Record<string, unknown>>;
}>;

/** `TaskSucceeded.v1.json`, or `TaskSucceeded.with-blob.v1.json` for another variant of the same shape. */
const FILE_NAME = /^(?<type>[A-Za-z]+)(\.[\w-]+)?\.v(?<version>\d+)\.json$/;

/** Streams without codecs: frames and user events are stored byte for byte, and keys belong to the kernel. */
export const STORED_AS_THEY_ARE: Readonly<Record<string, Codec>> = {
  message: { [FRAME_EVENT]: [] },
  user: { [USER_EVENT]: [] },
  idempotency: { IdempotencyKeyUsed: [] },
};

export function readSamples(folder: string): readonly Sample[] {
  const categories = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return categories.flatMap(({ name: category }) =>
    readdirSync(join(folder, category)).map((name) => {
      const content = JSON.parse(readFileSync(join(folder, category, name), 'utf8')) as Omit<Sample, 'category' | 'file'>;
      return { ...content, category, file: `${category}/${name}` };
    }),
  );
}

/** The codecs of all features by category: every `<category>Codec` that a `*.codec.ts` exports. */
export async function featureCodecs(): Promise<Readonly<Record<string, Codec>>> {
  const files = readdirSync(fileURLToPath(new URL('../../src/', import.meta.url)), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.codec.ts'),
  );
  const modules = await Promise.all(
    files.map((file) => import(`../../src/${file.replace(/\.ts$/, '.js')}`) as Promise<Record<string, Codec>>),
  );
  const named = modules.flatMap((module) => Object.entries(module));
  return Object.fromEntries(named.map(([name, codec]) => [name.replace(/Codec$/, ''), codec]));
}

/** Shapes without a sample, and samples that no codec knows. */
export function problemsWith(samples: readonly Sample[], codecs: Readonly<Record<string, Codec>>): readonly string[] {
  const strays = samples.flatMap(({ category, file, type, version }) => {
    const named = FILE_NAME.exec(file.slice(category.length + 1))?.groups;
    const codec = codecs[category];
    if (named?.['type'] !== type || named['version'] !== String(version))
      return [`${file} is not named after its type and version`];
    if (!codec || !(type in codec)) return [`${file} is of a type that no codec of ${category} knows`];
    return version > currentVersion(codec, type) ? [`${file} is of a version that was never written`] : [];
  });
  const kept = new Set(samples.map(({ category, type, version }) => `${category}/${type}.v${version}`));
  const missing = Object.entries(codecs).flatMap(([category, codec]) =>
    Object.keys(codec).flatMap((type) => {
      const versions = Array.from({ length: currentVersion(codec, type) }, (_, index) => `${category}/${type}.v${index + 1}`);
      return versions.filter((version) => !kept.has(version)).map((version) => `there is no sample of ${version}`);
    }),
  );
  return [...strays, ...missing];
}
