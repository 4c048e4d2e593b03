import type { Section } from '../document.port.js';
import { Archive } from './archive.js';
import type { ParsingLimits } from '../limits.js';
import { relationshipsOf } from './office-parts.js';
import { titleOf } from './plain-text.js';
import { unreadable } from '../refusals.js';

const PRESENTATION = 'ppt/presentation.xml';

/** One section per slide, in presentation order, with the speaker's notes. */
export function parseSlides(filename: string, bytes: Uint8Array, limits: ParsingLimits): readonly Section[] {
  const archive = Archive.open(filename, bytes, limits);
  if (!archive.has(PRESENTATION)) throw unreadable(filename, 'a presentation');
  return slidePaths(archive).map((path, index) => {
    const { title, paragraphs } = readSlide(archive, path);
    const notes = notesOf(archive, path);
    const text = [title, ...paragraphs, ...notes].filter((each) => each !== '').join('\n');
    return { title: title || `${titleOf(filename)}, slide ${index + 1}`, text };
  });
}

function slidePaths(archive: Archive): readonly string[] {
  const targets = relationshipsOf(archive, PRESENTATION);
  // A slide that is listed several times is read once.
  const paths = new Set<string>();
  archive.readXml(PRESENTATION, {
    onOpen: (name, attributes) => {
      const path = name === 'p:sldId' ? targets.get(attributes['r:id'] ?? '')?.path : undefined;
      if (path && archive.has(path)) paths.add(path);
    },
  });
  return [...paths];
}

function notesOf(archive: Archive, slide: string): readonly string[] {
  const notes = [...relationshipsOf(archive, slide).values()].find(({ type }) => type === 'notesSlide');
  return notes && archive.has(notes.path) ? readSlide(archive, notes.path).paragraphs : [];
}

/** The text of a slide's shapes by paragraph, without slide numbers, dates and footers, which every slide repeats. */
function readSlide(archive: Archive, path: string): { title: string; paragraphs: readonly string[] } {
  const [titles, paragraphs]: [string[], string[]] = [[], []];
  let placeholder = '';
  let paragraph = '';
  let inText = false;
  archive.readXml(path, {
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
