import type { Section } from '../../sources/document.port.js';
import { Archive } from './archive.js';
import type { ParsingLimits } from './limits.js';
import { titleOf } from './plain-text.js';
import { unreadable } from './refusals.js';
import { readRelationships, readXml } from './xml.js';

const PRESENTATION = 'ppt/presentation.xml';

/** A section a slide, in the order they are shown, with the speaker's notes. */
export function parseSlides(filename: string, bytes: Uint8Array, limits: ParsingLimits): readonly Section[] {
  const archive = Archive.open(filename, bytes, limits);
  if (!archive.has(PRESENTATION)) throw unreadable(filename, 'a presentation');
  return slidePaths(archive).map((path, index) => {
    const { title, paragraphs } = readSlide(archive.text(path));
    const notes = notesOf(archive, path);
    const text = [title, ...paragraphs, ...notes].filter((each) => each !== '').join('\n');
    return { title: title || `${titleOf(filename)}, slide ${index + 1}`, text };
  });
}

function slidePaths(archive: Archive): readonly string[] {
  const targets = relationshipsOf(archive, PRESENTATION);
  const paths: string[] = [];
  readXml(archive.text(PRESENTATION), {
    onOpen: (name, attributes) => {
      const path = name === 'p:sldId' ? targets.get(attributes['r:id'] ?? '')?.path : undefined;
      if (path && archive.has(path)) paths.push(path);
    },
  });
  return paths;
}

function notesOf(archive: Archive, slide: string): readonly string[] {
  const notes = [...relationshipsOf(archive, slide).values()].find(({ type }) => type === 'notesSlide');
  return notes && archive.has(notes.path) ? readSlide(archive.text(notes.path)).paragraphs : [];
}

function relationshipsOf(archive: Archive, part: string) {
  const folder = part.slice(0, part.lastIndexOf('/'));
  const path = `${folder}/_rels/${part.slice(folder.length + 1)}.rels`;
  return archive.has(path) ? readRelationships(archive.text(path), folder) : new Map<string, never>();
}

/** Text of shapes, paragraph by paragraph; slide numbers and dates, which every slide repeats, are left out. */
function readSlide(xml: string): { title: string; paragraphs: readonly string[] } {
  const [titles, paragraphs]: [string[], string[]] = [[], []];
  let placeholder = '';
  let paragraph = '';
  let inText = false;
  readXml(xml, {
    onOpen: (name, { type }) => {
      if (name === 'p:sp') placeholder = '';
      else if (name === 'p:ph') placeholder = type ?? '';
      else if (name === 'a:t') inText = true;
      else if (name === 'a:br' || name === 'a:tab') paragraph += ' ';
    },
    onText: (text) => {
      if (inText) paragraph += text;
    },
    onClose: (name) => {
      if (name === 'a:t') inText = false;
      if (name !== 'a:p') return;
      const isTitle = placeholder === 'title' || placeholder === 'ctrTitle';
      if (!['sldNum', 'dt', 'ftr'].includes(placeholder) && paragraph.trim() !== '')
        (isTitle ? titles : paragraphs).push(paragraph.trim());
      paragraph = '';
    },
  });
  return { title: titles.join(' '), paragraphs };
}
