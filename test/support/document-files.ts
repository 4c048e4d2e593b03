import { strToU8, zipSync } from 'fflate';
import type { DocumentFile, WaitingDocument } from '../../src/resources/documents/document.port.js';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

export const textFile = (filename: string, text: string): DocumentFile => ({
  filename,
  bytes: strToU8(text),
});

/** A file that waits to be parsed. */
export const waitingFile = ({ filename, bytes }: DocumentFile, ownerId = 'ann'): WaitingDocument => ({
  filename,
  ownerId,
  size: bytes.byteLength,
  bytes: () => Promise.resolve(bytes.slice()),
});

export const zipFile = (filename: string, entries: Readonly<Record<string, string>>): DocumentFile => ({
  filename,
  bytes: zipSync(Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, strToU8(text)]))),
});

const relationships = (targets: readonly (readonly [id: string, type: string, target: string])[]) =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const contentTypes = (overrides: Readonly<Record<string, string>>) =>
  `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${Object.entries(
    overrides,
  )
    .map(
      ([part, type]) => `<Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
    )
    .join('')}</Types>`;

/** A Word document of headings and paragraphs. */
export function wordFile(filename: string, blocks: readonly (readonly ['heading' | 'text', string])[]): DocumentFile {
  const body = blocks
    .map(([kind, text]) => {
      const style = kind === 'heading' ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : '';
      return `<w:p>${style}<w:r><w:t>${text}</w:t></w:r></w:p>`;
    })
    .join('');
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  return zipFile(filename, {
    '[Content_Types].xml': contentTypes({
      '/word/document.xml': 'wordprocessingml.document.main',
      '/word/styles.xml': 'wordprocessingml.styles',
    }),
    '_rels/.rels': relationships([['rId1', 'officeDocument', 'word/document.xml']]),
    'word/_rels/document.xml.rels': relationships([['rId1', 'styles', 'styles.xml']]),
    'word/styles.xml': `${XML}<w:styles xmlns:w="${main}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    'word/document.xml': `${XML}<w:document xmlns:w="${main}"><w:body>${body}</w:body></w:document>`,
  });
}

/** A spreadsheet of one sheet. */
export function spreadsheetFile(filename: string, sheet: string, rows: readonly (readonly (string | number)[])[]): DocumentFile {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const cell = (value: string | number, column: number, row: number) => {
    const at = `${String.fromCharCode(65 + column)}${row + 1}`;
    return typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  const data = rows.map(
    (row, index) => `<row r="${index + 1}">${row.map((value, column) => cell(value, column, index)).join('')}</row>`,
  );
  return zipFile(filename, {
    '[Content_Types].xml': contentTypes({
      '/xl/workbook.xml': 'spreadsheetml.sheet.main',
      '/xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
    }),
    '_rels/.rels': relationships([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/_rels/workbook.xml.rels': relationships([['rId1', 'worksheet', 'worksheets/sheet1.xml']]),
    'xl/workbook.xml': `${XML}<workbook xmlns="${main}" xmlns:r="${OFFICE}"><sheets><sheet name="${sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${main}"><sheetData>${data.join('')}</sheetData></worksheet>`,
  });
}

/** A presentation whose slides are stored in another order than they are shown. */
export function slidesFile(
  filename: string,
  slides: readonly Readonly<{ title: string; text: string; notes?: string }>[],
): DocumentFile {
  const shape = (text: string, type?: string) =>
    `<p:sp><p:nvSpPr><p:nvPr>${type ? `<p:ph type="${type}"/>` : ''}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const part = (index: number) => slides.length - index;
  const entries: Record<string, string> = {
    '[Content_Types].xml': contentTypes({ '/ppt/presentation.xml': 'presentationml.presentation.main' }),
    'ppt/presentation.xml': `${XML}<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships(
      slides.map((_, index) => [`rId${index + 1}`, 'slide', `slides/slide${part(index)}.xml`]),
    ),
  };
  slides.forEach(({ title, text, notes }, index) => {
    entries[`ppt/slides/slide${part(index)}.xml`] =
      `${XML}<p:sld xmlns:p="p" xmlns:a="a">${shape(title, 'title')}${shape(text)}${shape('7', 'sldNum')}</p:sld>`;
    if (!notes) return;
    entries[`ppt/slides/_rels/slide${part(index)}.xml.rels`] = relationships([
      ['rId1', 'notesSlide', `../notesSlides/notes${part(index)}.xml`],
    ]);
    entries[`ppt/notesSlides/notes${part(index)}.xml`] =
      `${XML}<p:notes xmlns:p="p" xmlns:a="a">${shape(notes, 'body')}</p:notes>`;
  });
  return zipFile(filename, entries);
}

/** An EPUB with chapters, each given as the inside of its `body`. */
export function bookFile(filename: string, title: string, chapters: readonly string[]): DocumentFile {
  const names = chapters.map((_, index) => `text/chapter ${index + 1}.xhtml`);
  return zipFile(filename, {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `${XML}<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>`,
    'OEBPS/content.opf': `${XML}<package xmlns:dc="dc"><metadata><dc:title>${title}</dc:title></metadata><manifest>${names
      .map((name, index) => `<item id="c${index}" href="${encodeURI(name)}"/>`)
      .join('')}</manifest><spine>${names.map((_, index) => `<itemref idref="c${index}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(chapters.map((body, index) => [`OEBPS/${names[index]}`, `<html><body>${body}</body></html>`])),
  });
}

const nest = (open: string, inner: string, close: string, depth: number) => open.repeat(depth) + inner + close.repeat(depth);

/**
 * A document of the type that the file name states, with content that is nested `depth` levels deep, not counting the levels
 * around it.
 */
export function nestedFile(filename: string, depth: number): DocumentFile {
  switch (filename.replace(/^.*\./, '')) {
    case 'docx':
      return wordFile(filename, [['text', `</w:t>${nest('<w:x>', '<w:t>x</w:t>', '</w:x>', depth)}<w:t>`]]);
    case 'xlsx':
      return spreadsheetFile(filename, 'Tea', [['x'], [nest('<x>', 'x', '</x>', depth)]]);
    case 'pptx':
      return slidesFile(filename, [{ title: 'x', text: nest('<x>', 'x', '</x>', depth) }]);
    case 'epub':
      return bookFile(filename, nest('<x>', 'x', '</x>', depth), ['x']);
    default:
      return textFile(filename, nest('[', '1', ']', depth));
  }
}

/** A PDF with one line of text per page. Narrow pages render faster. */
export function pdfFile(filename: string, pages: readonly string[], width = 612): DocumentFile {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')}] /Count ${pages.length} >>`,
  ];
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  pages.forEach((text, index) => {
    const content = `BT /F1 12 Tf 72 720 Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
    );
    objects.push(pdfStream('', content));
  });
  return pdfOf(filename, objects);
}

const pdfStream = (entries: string, content: string) =>
  `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;

/** A PDF of these objects, numbered from 1; the first is its catalogue. */
export function pdfOf(filename: string, objects: readonly string[]): DocumentFile {
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF`;
  return textFile(filename, pdf);
}

/** A page with a drawing that consists of ten drawings, each of which consists of ten more, down to `depth` levels. */
export function endlessPdf(filename: string, depth = 15): DocumentFile {
  const first = 6;
  const drawings = Array.from({ length: depth }, (_, index) => {
    const isLast = index === depth - 1;
    const resources = isLast ? '/Font << /F1 3 0 R >>' : `/XObject << /X ${first + index + 1} 0 R >>`;
    const content = isLast ? 'BT /F1 12 Tf (x) Tj ET' : '/X Do '.repeat(10);
    return pdfStream(`/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources} >>`, content);
  });
  return pdfOf(filename, [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /X ${first} 0 R >> >> /Contents 5 0 R >>`,
    pdfStream('', '/X Do'),
    ...drawings,
  ]);
}
