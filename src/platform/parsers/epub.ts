import type { Section } from '../../sources/document.port.js';
import { Archive } from './archive.js';
import { parseHtml } from './html.js';
import type { ParsingLimits } from './limits.js';
import { titleOf } from './plain-text.js';
import { unreadable } from './refusals.js';
import { readXml, resolvePath } from './xml.js';

const CONTAINER = 'META-INF/container.xml';

/** The chapters in reading order, each read as a page of HTML. */
export function parseEpub(filename: string, bytes: Uint8Array, limits: ParsingLimits): readonly Section[] {
  const archive = Archive.open(filename, bytes, limits);
  const packagePath = archive.has(CONTAINER) ? findPackage(archive.text(CONTAINER)) : undefined;
  if (!packagePath || !archive.has(packagePath)) throw unreadable(filename, 'a book');
  const { title, chapters } = readPackage(archive.text(packagePath), packagePath.replace(/[^/]*$/, ''));
  return chapters
    .filter((path) => archive.has(path))
    .flatMap((path) => parseHtml(filename, archive.text(path), title || titleOf(filename)));
}

function findPackage(xml: string): string | undefined {
  let path: string | undefined;
  readXml(xml, {
    onOpen: (name, attributes) => {
      if (name === 'rootfile') path ??= attributes['full-path'];
    },
  });
  return path;
}

function readPackage(xml: string, folder: string): { title: string; chapters: readonly string[] } {
  const hrefs = new Map<string, string>();
  const spine: string[] = [];
  let title = '';
  let inTitle = false;
  readXml(xml, {
    onOpen: (name, { id, href, idref }) => {
      if (name === 'item' && id && href) hrefs.set(id, href);
      else if (name === 'itemref' && idref) spine.push(idref);
      else if (name === 'dc:title') inTitle = true;
    },
    onText: (text) => {
      if (inTitle) title += text;
    },
    onClose: (name) => {
      if (name === 'dc:title') inTitle = false;
    },
  });
  const chapters = spine.flatMap((id) => hrefs.get(id) ?? []).map((href) => resolvePath(folder, decodePath(href)));
  return { title: title.trim(), chapters };
}

function decodePath(href: string): string {
  const path = href.replace(/#.*$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
