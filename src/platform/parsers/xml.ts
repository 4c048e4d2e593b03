import { Parser } from 'htmlparser2';

export type XmlHandlers = Readonly<{
  onOpen?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  onText?: (text: string) => void;
  onClose?: (name: string) => void;
}>;

/** Reads XML as a stream of tags; entities other than the predefined ones stay as they stand. */
export function readXml(xml: string, { onOpen, onText, onClose }: XmlHandlers): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => onOpen?.(name, attributes),
      ontext: (text) => onText?.(text),
      onclosetag: (name) => onClose?.(name),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  parser.end();
}

/** The relationships part beside an Office part: id to the target's path inside the archive. */
export function readRelationships(xml: string, folder: string): ReadonlyMap<string, Readonly<{ type: string; path: string }>> {
  const targets = new Map<string, { type: string; path: string }>();
  readXml(xml, {
    onOpen: (name, { Id, Type, Target }) => {
      if (name === 'Relationship' && Id && Target)
        targets.set(Id, { type: Type?.replace(/^.*\//, '') ?? '', path: resolvePath(folder, Target) });
    },
  });
  return targets;
}

/** A path inside an archive, as a part in `folder` names it. */
export function resolvePath(folder: string, target: string): string {
  const steps = target.startsWith('/') ? [] : folder.split('/').filter((step) => step !== '');
  for (const step of target.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
