import type { Archive } from './archive.js';

type Target = Readonly<{ type: string; path: string }>;

/** The parts that a part of an Office file refers to, with their paths in the archive, by relationship id. */
export function relationshipsOf(archive: Archive, part: string): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  const folder = part.slice(0, part.lastIndexOf('/'));
  const path = `${folder}/_rels/${part.slice(folder.length + 1)}.rels`;
  if (!archive.has(path)) return targets;
  archive.readXml(path, {
    onOpen: (name, { Id, Type, Target }) => {
      if (name === 'Relationship' && Id && Target)
        targets.set(Id, { type: Type?.replace(/^.*\//, '') ?? '', path: resolvePath(folder, Target) });
    },
  });
  return targets;
}

/** Resolves a path in an archive relative to `folder`. */
export function resolvePath(folder: string, target: string): string {
  const steps = target.startsWith('/') ? [] : folder.split('/').filter((step) => step !== '');
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
