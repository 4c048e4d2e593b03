import type { Section } from '../document.port.js';
import { Archive } from './archive.js';
import { parseHtml } from './html.js';
import type { ParsingLimits } from '../limits.js';
import { resolvePath } from './office-parts.js';
import { titleOf } from './plain-text.js';
import { unreadable } from '../refusals.js';

const CONTAINER = 'META-INF/container.xml';

/** The chapters in reading order, each parsed as HTML. */
export function parseEpub(filename: string, bytes: Uint8Array, limits: ParsingLimits): readonly Section[] {
  const archive = Archive.open(filename, bytes, limits);
  const packagePath = archive.has(CONTAINER) ? findPackage(archive) : undefined;
  if (!packagePath || !archive.has(packagePath)) throw unreadable(filename, 'a book');
  const { title, chapters } = readPackage(archive, packagePath);
  return chapters
    .filter((path) => archive.has(path))
    .flatMap((path) => parseHtml(filename, archive.text(path), title || titleOf(filename)));
}

function findPackage(archive: Archive): string | undefined {
  let path: string | undefined;
  archive.readXml(CONTAINER, {
    onOpen: (name, attributes) => {
      if (name === 'rootfile') path ??= attributes['full-path'];
    },
  });
  return path;
}

function readPackage(archive: Archive, path: string): { title: string; chapters: readonly string[] } {
  const hrefs = new Map<string, string>();
  const spine: string[] = [];
  let title = '';
  let inTitle = false;
  archive.readXml(path, {
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
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const chapters = spine.flatMap((id) => hrefs.get(id) ?? []).map((href) => resolvePath(folder, decodePath(href)));
  // A chapter that is listed several times is read once.
  return { title: title.trim(), chapters: [...new Set(chapters)] };
}

function decodePath(href: string): string {
  const path = href.split('#', 1)[0]!;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
