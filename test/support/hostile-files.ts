import { strToU8, unzipSync, zipSync } from 'fflate';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';
import { bookFile, pdfOf, slidesFile, spreadsheetFile, textFile, wordFile } from './document-files.js';

/** A file that causes more work than its size suggests. `make` returns one of about `bytes` bytes (unpacked, for archives). */
export type HostileFile = Readonly<{ name: string; make: (bytes: number) => DocumentFile }>;

const times = (part: string, bytes: number): string => part.repeat(Math.max(1, Math.ceil(bytes / part.length)));
const half = (bytes: number): number => Math.floor(bytes / 2);

const nested = (open: string, inner: string, close: string, bytes: number): string => {
  const depth = Math.max(1, Math.floor(bytes / (open.length + close.length)));
  return open.repeat(depth) + inner + close.repeat(depth);
};

const html = (name: string, make: (bytes: number) => string): HostileFile => ({
  name: `html: ${name}`,
  make: (bytes) => textFile('page.html', make(bytes)),
});
const markdown = (name: string, make: (bytes: number) => string): HostileFile => ({
  name: `md: ${name}`,
  make: (bytes) => textFile('page.md', make(bytes)),
});
const text = (extension: string, name: string, make: (bytes: number) => string): HostileFile => ({
  name: `${extension}: ${name}`,
  make: (bytes) => textFile(`file.${extension}`, make(bytes)),
});

/** An archive of the given kind with one part replaced. */
const part = (kind: string, path: string, name: string, make: (bytes: number) => string): HostileFile => ({
  name: `${kind}: ${name}`,
  make: (bytes) => {
    const sound = SOUND[kind]!();
    const entries = unzipSync(sound.bytes);
    return { filename: sound.filename, bytes: zipSync({ ...entries, [path]: strToU8(make(bytes)) }, { level: 9 }) };
  },
});
const SOUND: Readonly<Record<string, () => DocumentFile>> = {
  docx: () => wordFile('file.docx', [['text', 'x']]),
  xlsx: () => spreadsheetFile('file.xlsx', 'Sheet', [['a'], ['b']]),
  pptx: () => slidesFile('file.pptx', [{ title: 'a', text: 'b', notes: 'c' }]),
  epub: () => bookFile('file.epub', 'Book', ['<p>x</p>']),
};

/** A one-page PDF with the given entry and page tree. */
const pdf = (name: string, entry: (bytes: number) => string, pages = '/Kids [3 0 R] /Count 1'): HostileFile => ({
  name: `pdf: ${name}`,
  make: (bytes) =>
    pdfOf('file.pdf', [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages ${pages} >>`,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] ${entry(bytes)} >>`,
    ]),
});

const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const document = (body: string) => `<w:document xmlns:w="${W}"><w:body>${body}</w:body></w:document>`;
const paragraph = '<w:p><w:r><w:t>x</w:t></w:r></w:p>';
const laughs = (root: string) =>
  `<!DOCTYPE x [<!ENTITY a "ha">${'bcdefghij'
    .split('')
    .map((name, index) => `<!ENTITY ${name} "${`&${'abcdefghi'[index]};`.repeat(10)}">`)
    .join('')}]>${root}`;

const M = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const sheet = (rows: string) => `<worksheet xmlns="${M}"><sheetData>${rows}</sheetData></worksheet>`;

export const HOSTILE_FILES: readonly HostileFile[] = [
  html('nested div', (bytes) => times('<div>', bytes)),
  html('nested b', (bytes) => times('<b>', bytes)),
  html('nested and closed', (bytes) => nested('<i>', 'x', '</i>', bytes)),
  html('deep, then closing what is not open', (bytes) => times('<b>', half(bytes)) + times('</u>', half(bytes))),
  html('deep, then forms', (bytes) => times('<b>', half(bytes)) + times('<form>', half(bytes))),
  html('svg in svg', (bytes) => times('<svg><foreignObject>', bytes)),
  html('entities on a line', (bytes) => times('&amp;', bytes)),
  html('cells in a row', (bytes) => `<tr>${times('<td>x', bytes)}`),
  html('spaces in pre', (bytes) => `<pre>x${times(' ', bytes)}x</pre>`),
  html('breaks', (bytes) => times('<br> ', bytes)),
  html('many attributes', (bytes) => `<p ${times('a=b ', bytes)}>x`),
  html('open tag without end', (bytes) => times('<', bytes)),
  html('comments without end', (bytes) => times('<!--', bytes)),
  html('nested tables', (bytes) => times('<table><tr><td>', bytes)),
  html('nested lists', (bytes) => times('<ul><li>x', bytes)),
  html('scripts', (bytes) => times('<script>', bytes)),
  html('one word', (bytes) => times('a', bytes)),
  html('headings', (bytes) => times('<h1>x</h1>', bytes)),
  markdown('nested quotes', (bytes) => times('>', bytes)),
  markdown('nested quotes with spaces', (bytes) => `${times('> ', bytes)}x`),
  markdown('growing quotes', (bytes) => growing((depth) => `${'>'.repeat(depth)} x\n`, bytes)),
  markdown('nested lists', (bytes) => growing((depth) => `${' '.repeat(2 * depth)}- x\n`, bytes)),
  markdown('nested lists on a line', (bytes) => `${times('- ', bytes)}x`),
  markdown('nested ordered lists on a line', (bytes) => `${times('1. ', bytes)}x`),
  markdown('opening brackets', (bytes) => times('[', bytes)),
  markdown('images', (bytes) => times('![', bytes)),
  markdown('links', (bytes) => times('[a](', bytes)),
  markdown('links in angle brackets', (bytes) => times('[a](<b', bytes)),
  markdown('emphasis', (bytes) => times('*a **a ', bytes)),
  markdown('emphasis of one', (bytes) => times('a*', bytes)),
  markdown('underscores', (bytes) => times('_a__a', bytes)),
  markdown('strikes', (bytes) => times('~~a', bytes)),
  markdown('code spans', (bytes) => growing((depth) => `${'`'.repeat(depth)}a`, bytes)),
  markdown('stars', (bytes) => times('*', bytes)),
  markdown('rule that is none', (bytes) => `${times('* ', bytes)}x`),
  markdown('heading of spaces', (bytes) => `# x${times(' ', bytes)}x`),
  markdown('heading of hashes', (bytes) => `# ${times('#', bytes)}x`),
  markdown('heading of brackets', (bytes) => `# ${times('[', bytes)}`),
  markdown('heading of emphasis', (bytes) => `# ${times('*a **a ', bytes)}`),
  markdown('definitions', (bytes) => times('[a]: b\n', bytes)),
  markdown('definition without end', (bytes) => `[${times('a\\]', bytes)}`),
  markdown('tables', (bytes) => `|a|b|\n|-|-|\n${times('|a|b|\n', bytes)}`),
  markdown('wide table', (bytes) => `${times('|a', half(bytes))}\n${times('|-', half(bytes))}\n`),
  markdown('pipes', (bytes) => times('|', bytes)),
  markdown('html comments', (bytes) => times('<!--', bytes)),
  markdown('html tags', (bytes) => times('<a ', bytes)),
  markdown('html blocks', (bytes) => times('<div>\n\n', bytes)),
  markdown('fences', (bytes) => times('```\n~~~\n', bytes)),
  markdown('many lines of a paragraph', (bytes) => times('a\n', bytes)),
  markdown('backslashes', (bytes) => times('\\', bytes)),
  markdown('addresses', (bytes) => times('a@b.', bytes)),
  markdown('web addresses', (bytes) => times('http://', bytes)),
  markdown('dots and dashes', (bytes) => times('a.', bytes)),
  markdown('tabs', (bytes) => times('\t', bytes)),
  markdown('blank lines', (bytes) => times(' \n', bytes)),
  markdown('front matter without end', (bytes) => `---\n${times('a: b\n', bytes)}`),
  markdown('front matter with a long title', (bytes) => `---\ntitle: "${times(' ', bytes)}x\n---\n`),
  text('mdx', 'imports', (bytes) => times('import a from ', bytes)),
  text('mdx', 'imports on lines', (bytes) => times('import a\n', bytes)),
  text('rst', 'adornments', (bytes) => times('=====\n', bytes)),
  text('rst', 'one long adornment', (bytes) => `${times('=', bytes)}x\n${times('=', bytes)}`),
  text('rst', 'adornment and spaces', (bytes) => `===${times(' ', bytes)}x`),
  text('rst', 'headings', (bytes) => times('a\n===\n', bytes)),
  text('rst', 'one long heading', (bytes) => `${times('a', half(bytes))}\n${times('=', half(bytes))}\n`),
  text('csv', 'a long name of a column', (bytes) => `${times('a', half(bytes))}\n${times('x\n', half(bytes))}`),
  text('csv', 'many columns', (bytes) => `${times('a,', half(bytes))}\n${times('x,', half(bytes))}`),
  text('csv', 'quotes', (bytes) => times('"', bytes)),
  text('csv', 'quotes and commas', (bytes) => times('"a",', bytes)),
  text('csv', 'loose quotes', (bytes) => times('a"b,', bytes)),
  text('csv', 'one cell', (bytes) => times('a', bytes)),
  text('csv', 'blank lines', (bytes) => times('\n', bytes)),
  text('json', 'nested lists', (bytes) => nested('[', '1', ']', bytes)),
  text('json', 'nested records', (bytes) => nested('{"a":', '1', '}', bytes)),
  text('json', 'nested lists of lists', (bytes) => nested('[[1],', '1', ']', bytes)),
  text('json', 'a long name above many values', (bytes) => `{"a":{"${times('n', half(bytes))}":[${times('1,', half(bytes))}1]}}`),
  text('json', 'numbers', (bytes) => `[${times('1,', bytes)}1]`),
  text('json', 'empty lists', (bytes) => `[${times('[],', bytes)}1]`),
  text('json', 'a long number', (bytes) => times('9', bytes)),
  text('json', 'escapes', (bytes) => `"${times('\\u0000', bytes)}"`),
  text('txt', 'one word', (bytes) => times('a', bytes)),
  text('txt', 'spaces', (bytes) => `a${times(' ', bytes)}a`),
  text('txt', 'blank lines', (bytes) => `a${times('\n', bytes)}a`),
  text('txt', 'blank lines of spaces', (bytes) => `a${times('\n ', bytes)}a`),
  text('txt', 'sentence ends', (bytes) => times('.', bytes)),
  text('txt', 'sentence ends with quotes', (bytes) => `a.${times('"', bytes)}`),
  text('txt', 'accents', (bytes) => times('\u0301', bytes)),
  text('txt', 'joiners', (bytes) => times('\u200d', bytes)),
  text('txt', 'entities', (bytes) => laughs(times('&j;', bytes))),
  part('docx', 'word/document.xml', 'nested tables', (bytes) =>
    document(nested('<w:tbl><w:tr><w:tc>', paragraph, '</w:tc></w:tr></w:tbl>', bytes)),
  ),
  part('docx', 'word/document.xml', 'nested unknown tags', (bytes) => document(nested('<w:x>', paragraph, '</w:x>', bytes))),
  part('docx', 'word/document.xml', 'nested paragraphs', (bytes) => document(nested('<w:p>', 'x', '</w:p>', bytes))),
  part('docx', 'word/document.xml', 'nested content controls', (bytes) =>
    document(nested('<w:sdt><w:sdtContent>', paragraph, '</w:sdtContent></w:sdt>', bytes)),
  ),
  part('docx', 'word/document.xml', 'tags that are not closed', (bytes) => document(times('<w:x>', bytes))),
  part('docx', 'word/document.xml', 'many paragraphs', (bytes) => document(times(paragraph, bytes))),
  part('docx', 'word/document.xml', 'many runs of a paragraph', (bytes) =>
    document(`<w:p>${times('<w:r><w:t>x</w:t></w:r>', bytes)}</w:p>`),
  ),
  part('docx', 'word/document.xml', 'many cells of a row', (bytes) =>
    document(`<w:tbl><w:tr>${times('<w:tc><w:p/></w:tc>', bytes)}</w:tr></w:tbl>`),
  ),
  part('docx', 'word/document.xml', 'cells merged down', (bytes) =>
    document(`<w:tbl>${times('<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>', bytes)}</w:tbl>`),
  ),
  part('docx', 'word/document.xml', 'many attributes', (bytes) => document(`<w:p ${attributes(bytes)}/>`)),
  part('docx', 'word/document.xml', 'many namespaces', (bytes) => document(nested('<w:p xmlns:a="b">', '', '</w:p>', bytes))),
  part('docx', 'word/document.xml', 'deep complex fields', (bytes) =>
    document(`<w:p>${times('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', bytes)}</w:p>`),
  ),
  part('docx', 'word/document.xml', 'entities', (bytes) =>
    laughs(`<w:document xmlns:w="${W}"><w:body><w:p><w:r><w:t>${times('&j;', bytes)}</w:t></w:r></w:p></w:body></w:document>`),
  ),
  part('docx', 'word/document.xml', 'comments without end', (bytes) => document(times('<!--', bytes))),
  part('docx', 'word/document.xml', 'opening brackets', (bytes) => document(times('<', bytes))),
  part('docx', 'word/document.xml', 'ampersands', (bytes) => document(`<w:p><w:r><w:t>${times('&', bytes)}</w:t></w:r></w:p>`)),
  part(
    'docx',
    'word/styles.xml',
    'nested styles',
    (bytes) => `<w:styles xmlns:w="${W}">${nested('<w:x>', '', '</w:x>', bytes)}</w:styles>`,
  ),
  part(
    'docx',
    'word/styles.xml',
    'many styles',
    (bytes) =>
      `<w:styles xmlns:w="${W}">${times('<w:style w:type="paragraph" w:styleId="a"><w:name w:val="b"/></w:style>', bytes)}</w:styles>`,
  ),
  part('docx', '[Content_Types].xml', 'nested content types', (bytes) => nested('<x>', '', '</x>', bytes)),
  part('docx', 'word/document.xml', 'deep lists', (bytes) =>
    document(times('<w:p><w:pPr><w:numPr><w:ilvl w:val="99999"/><w:numId w:val="1"/></w:numPr></w:pPr></w:p>', bytes)),
  ),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'a far cell', () => sheet('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'a very far cell', () =>
    sheet('<row r="1"><c r="ZZZZZZZ99999999999"><v>1</v></c></row>'),
  ),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'a far row', () => sheet('<row r="1048576"><c r="A1048576"><v>1</v></c></row>')),
  part(
    'xlsx',
    'xl/worksheets/sheet1.xml',
    'a wide dimension',
    () =>
      `<worksheet xmlns="${M}"><dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData></worksheet>`,
  ),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'a diagonal', (bytes) =>
    sheet(growing((index) => `<row r="${index}"><c r="${column(index)}${index}"><v>1</v></c></row>`, bytes)),
  ),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'nested', (bytes) => sheet(nested('<x>', '', '</x>', bytes))),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'many cells', (bytes) => sheet(`<row r="1">${times('<c><v>1</v></c>', bytes)}</row>`)),
  part('xlsx', 'xl/worksheets/sheet1.xml', 'entities', (bytes) =>
    laughs(sheet(`<row r="1"><c r="A1" t="inlineStr"><is><t>${times('&j;', bytes)}</t></is></c></row>`)),
  ),
  part(
    'xlsx',
    'xl/sharedStrings.xml',
    'nested shared strings',
    (bytes) => `<sst xmlns="${M}">${nested('<si>', '', '</si>', bytes)}</sst>`,
  ),
  part(
    'xlsx',
    'xl/workbook.xml',
    'one sheet many times',
    (bytes) =>
      `<workbook xmlns="${M}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${growing((index) => `<sheet name="s${index}" sheetId="${index}" r:id="rId1"/>`, bytes)}</sheets></workbook>`,
  ),
  part(
    'pptx',
    'ppt/slides/slide1.xml',
    'nested shapes',
    (bytes) => `<p:sld xmlns:p="p" xmlns:a="a">${nested('<p:sp>', '', '</p:sp>', bytes)}</p:sld>`,
  ),
  part('pptx', 'ppt/slides/slide1.xml', 'tags that are not closed', (bytes) => times('<p:sp>', bytes)),
  part('pptx', 'ppt/slides/slide1.xml', 'entities', (bytes) =>
    laughs(`<p:sld><a:p><a:t>${times('&j;', bytes)}</a:t></a:p></p:sld>`),
  ),
  part(
    'pptx',
    'ppt/slides/slide1.xml',
    'a paragraph of many pieces',
    (bytes) => `<p:sld><a:p><a:t>${times('&amp;', bytes)}</a:t></a:p></p:sld>`,
  ),
  part(
    'pptx',
    'ppt/presentation.xml',
    'one slide many times',
    (bytes) =>
      `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${times('<p:sldId id="256" r:id="rId1"/>', bytes)}</p:sldIdLst></p:presentation>`,
  ),
  pdf('nested lists', (bytes) => `/X ${nested('[', '1', ']', bytes)}`),
  pdf('nested records', (bytes) => `/X ${nested('<< /X ', '1', ' >>', bytes)}`),
  pdf('lists that do not end', (bytes) => `/Contents ${times('[', bytes)}`),
  pdf('a text that does not end', (bytes) => `/X ${times('(', bytes)}`),
  pdf('references', (bytes) => `/Contents [${times('3 0 R ', bytes)}]`),
  pdf('a long name', (bytes) => `/${times('#41', bytes)} 1`),
  pdf('a page tree that contains itself', () => '', '/Kids [2 0 R] /Count 1'),
  pdf('a page that is there many times', () => '', `/Kids [${'3 0 R '.repeat(300)}] /Count 300`),
  pdf('more pages than there are', () => '', '/Kids [3 0 R] /Count 1000000000'),
  part('epub', 'OEBPS/text/chapter 1.xhtml', 'nested', (bytes) => times('<div>', bytes)),
  part(
    'epub',
    'OEBPS/content.opf',
    'one chapter many times',
    (bytes) =>
      `<package><manifest><item id="c0" href="text/chapter%201.xhtml"/></manifest><spine>${times('<itemref idref="c0"/>', bytes)}</spine></package>`,
  ),
  part('epub', 'OEBPS/content.opf', 'nested package', (bytes) => times('<a>', bytes)),
  part('epub', 'META-INF/container.xml', 'nested container', (bytes) => times('<a>', bytes)),
  part(
    'epub',
    'OEBPS/content.opf',
    'a long path',
    (bytes) =>
      `<package><manifest><item id="c0" href="${times('a/../', bytes)}x"/></manifest><spine><itemref idref="c0"/></spine></package>`,
  ),
];

function growing(line: (index: number) => string, bytes: number): string {
  const lines: string[] = [];
  for (let index = 1, length = 0; length < bytes; index++) {
    const next = line(index);
    lines.push(next);
    length += next.length;
  }
  return lines.join('');
}

function attributes(bytes: number): string {
  return growing((index) => ` a${index}=""`, bytes);
}

/** The name of a spreadsheet column, counted from 1. */
function column(index: number): string {
  let name = '';
  for (let rest = index; rest > 0; rest = Math.floor((rest - 1) / 26)) name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}
