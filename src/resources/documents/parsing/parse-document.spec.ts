import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import {
  bookFile,
  nestedFile,
  pdfFile,
  slidesFile,
  spreadsheetFile,
  textFile,
  wordFile,
  zipFile,
} from '../../../../test/support/document-files.js';
import { documentRefusal } from '../../../../test/support/document-refusal.js';
import type { DocumentFile } from '../document.port.js';
import { Archive } from '../formats/archive.js';
import { checkFile } from '../formats/inspect-file.js';
import { PARSING_LIMITS } from '../limits.js';
import { TITLE_CHARACTERS_MAX } from '../formats/markdown.js';
import { parseDocument } from './parse-document.js';
import { WHITE_SPACE_MAX } from '../formats/plain-text.js';
import { ATTRIBUTES_MAX } from '../formats/xml-copy.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function onDisk({ filename, bytes }: DocumentFile): Promise<string> {
  const path = join(folder, filename);
  await writeFile(path, bytes);
  return path;
}

const read = (file: DocumentFile, limits = PARSING_LIMITS) => parseDocument(file, limits);

describe('a text document', () => {
  it('of Markdown has one section per heading and ignores headings in code blocks', async () => {
    const text =
      '---\ntitle: "The guide"\n---\nIntro.\n\n# *Set* up\n\nRun it:\n\n```sh\n# no heading\n```\n\nDeeper\n------\n\nMore.\n';
    expect(await read(textFile('guide.md', text))).toEqual([
      { title: 'The guide', text: 'Intro.\n\n' },
      { title: 'Set up', text: '# *Set* up\n\nRun it:\n\n```sh\n# no heading\n```\n\n' },
      { title: 'Deeper', text: 'Deeper\n------\n\nMore.\n' },
    ]);
  });

  it('of MDX has no module lines in its text', async () => {
    const [section] = await read(textFile('page.mdx', "import { Tabs } from '@site/tabs'\n\n# Page\n\nText.\n"));
    expect(section).toEqual({ title: 'Page', text: '# Page\n\nText.\n' });
  });

  it('of reStructuredText has one section per underlined or framed heading', async () => {
    const sections = await read(textFile('a.rst', '=====\nTitle\n=====\n\nIntro.\n\nPart\n----\n\nText.\n'));
    expect(sections.map(({ title, text }) => [title, text.trim()])).toEqual([
      ['Title', 'Title\n\nIntro.'],
      ['Part', 'Part\n\nText.'],
    ]);
  });

  it('of HTML yields the text of the page without scripts and menus', async () => {
    const html = `<html><head><title>Shop</title><script>evil()</script></head><body><nav>Menu</nav><p>Hello &amp; welcome,<br>friend</p>
      <h2>Prices <small>2026</small></h2><table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr></table>
      <ul><li>One</li><li>Two</li></ul><pre>a\n  b</pre></body></html>`;
    expect(await read(textFile('shop.html', html))).toEqual([
      { title: 'Shop', text: 'Hello & welcome,\nfriend' },
      { title: 'Prices 2026', text: 'Prices 2026\n\nItem | Price\n\nTea | 3\n\n- One\n\n- Two\n\na\n  b' },
    ]);
  });

  it('of HTML may be nested to any depth', async () => {
    const [section] = await read(textFile('deep.html', `${'<div>'.repeat(20_000)}deep`));
    expect(section?.text).toBe('deep');
  });

  it('of HTML closes unclosed and self-closing elements as browsers do', async () => {
    const html = `<div><nav>Menu<b>more</div>Said.</p><svg/>Also <svg><path d="M0"/><text>drawn</text></svg>said.
      <form>Form<form>in form</form>End.<pre>a  b</pre>c  d</b></u>`;
    const [section] = await read(textFile('loose.html', html));
    expect(section?.text).toBe('Said.\n\nAlso said. End.\n\na  b\n\nc d');
  });

  it('of HTML keeps single spaces after a line break', async () => {
    const [section] = await read(textFile('lines.html', '<p>one<br>\n  two  three<br/>four &amp; five</p>'));
    expect(section?.text).toBe('one\ntwo three\nfour & five');
  });

  it('keeps a limited run of white space', async () => {
    for (const [filename, text] of [
      ['a.txt', `a${' '.repeat(5_000)}b`],
      ['a.html', `<pre>a${' '.repeat(5_000)}b</pre>`],
    ] as const) {
      const [section] = await read(textFile(filename, text));
      expect(section?.text).toBe(`a${' '.repeat(WHITE_SPACE_MAX)}b`);
    }
  });

  it('of Markdown has titles of limited length', async () => {
    const sections = await read(textFile('a.md', `---\ntitle: ${'t'.repeat(600)}\n---\nText.\n\n# ${'h'.repeat(600)}\n`));
    expect(sections.map(({ title }) => title.length)).toEqual([TITLE_CHARACTERS_MAX, TITLE_CHARACTERS_MAX]);
  });

  it('of CSV repeats the column names in every row, with any delimiter', async () => {
    const [section] = await read(textFile('people.csv', '\ufeffname;city\n"Ann ""A"" ;";Bern\nBob;\n'));
    expect(section).toEqual({ title: 'people', text: 'name: Ann "A" ;, city: Bern\nname: Bob' });
  });

  it('of JSON has a line with the path for every value', async () => {
    const json = JSON.stringify({ version: 2, users: [{ name: 'Ann', tags: ['a', 'b'] }, { name: 'Bob' }] });
    expect(await read(textFile('data.json', json))).toEqual([
      { title: 'data', text: 'version: 2' },
      { title: 'users', text: 'users\n\nname: Ann\ntags.0: a\ntags.1: b\n\nname: Bob' },
    ]);
  });

  it('may be UTF-16 or Windows-1252, and is stripped of NULs', async () => {
    const utf16 = { filename: 'a.txt', bytes: Uint8Array.from([0xff, 0xfe, 0x48, 0, 0xe9, 0, 0, 0]) };
    const latin = { filename: 'b.txt', bytes: Uint8Array.from([0x48, 0xe9]) };
    expect((await read(utf16))[0]?.text).toBe('Hé');
    expect((await read(latin))[0]?.text).toBe('Hé');
  });
});

it('a text that begins like a program is accepted', async () =>
  expect(await read(textFile('a.txt', 'MZ is a prefix.'))).toHaveLength(1));

describe('an office document', () => {
  it('of Word keeps its headings', async () => {
    const file = wordFile('plan.docx', [
      ['heading', 'Budget'],
      ['text', 'Four thousand.'],
    ]);
    expect(await read(file)).toEqual([{ title: 'Budget', text: 'Budget\n\nFour thousand.' }]);
  });

  it('with sheets repeats the column names in every row', async () => {
    const file = spreadsheetFile('stock.xlsx', 'Tea', [
      ['name', 'kilos'],
      ['Assam', 12],
      ['Sencha', 7.5],
    ]);
    expect(await read(file)).toEqual([{ title: 'stock, Tea', text: 'name: Assam, kilos: 12\nname: Sencha, kilos: 7.5' }]);
  });

  it('with slides has one section per slide in presentation order, with the notes', async () => {
    const file = slidesFile('talk.pptx', [
      { title: 'Why', text: 'Because' },
      { title: 'How', text: 'So', notes: 'Slowly' },
    ]);
    expect(await read(file)).toEqual([
      { title: 'Why', text: 'Why\nBecause' },
      { title: 'How', text: 'How\nSo\nSlowly' },
    ]);
  });

  it('contains each slide and each chapter once, even if it is listed repeatedly', async () => {
    const twice = (file: DocumentFile, path: string, part: RegExp) => {
      const entries = unzipSync(file.bytes);
      const text = strFromU8(entries[path]!).replace(part, (each) => each.repeat(50));
      return { filename: file.filename, bytes: zipSync({ ...entries, [path]: strToU8(text) }) };
    };
    const slides = twice(slidesFile('talk.pptx', [{ title: 'Why', text: 'Because' }]), 'ppt/presentation.xml', /<p:sldId [^>]*>/);
    expect(await read(slides)).toHaveLength(1);
    const book = twice(bookFile('novel.epub', 'N', ['<p>One.</p>']), 'OEBPS/content.opf', /<itemref [^>]*>/);
    expect(await read(book)).toHaveLength(1);
  });

  it('with a large and nearly empty sheet is read, up to a limit of cells', async () => {
    const far = (address: string) => sheetFile(`<row r="${address.replace(/\D/g, '')}"><c r="${address}"><v>7</v></c></row>`);
    expect(await read(far('C1000'), { ...PARSING_LIMITS, cellsMax: 3_000 })).toHaveLength(1);
    await expect(read(far('C1000'), { ...PARSING_LIMITS, cellsMax: 2_999 })).rejects.toEqual(
      documentRefusal('document-too-large', 'stock.xlsx'),
    );
    await expect(read(far('XFD1048576'))).rejects.toEqual(documentRefusal('document-too-large', 'stock.xlsx'));
  });

  it.each([
    ['a cell with an invalid address', '<row r="1"><c r="ABCDEFG1"><v>7</v></c></row>'],
    ['a row without a number', '<row r="one"><c r="A1"><v>7</v></c></row>'],
  ])('with sheets is refused as damaged: %s', async (_, rows) => {
    await expect(read(sheetFile(rows))).rejects.toEqual(documentRefusal('document-unreadable', 'stock.xlsx'));
  });

  it('with sheets is refused as damaged if the workbook lists a sheet twice', async () => {
    const file = spreadsheetFile('stock.xlsx', 'Tea', [['name'], ['Assam']]);
    const entries = unzipSync(file.bytes);
    const path = 'xl/_rels/workbook.xml.rels';
    const text = strFromU8(entries[path]!).replace(/<Relationship (Id=")rId1(.*?\/>)/, '$&<Relationship $1rId2$2');
    const bytes = zipSync({ ...entries, [path]: strToU8(text) });
    await expect(read({ filename: 'stock.xlsx', bytes })).rejects.toEqual(documentRefusal('document-unreadable', 'stock.xlsx'));
  });

  it('that is a book has one section per chapter', async () => {
    const file = bookFile('novel.epub', 'The Novel', ['<p>Preface.</p>', '<h1>One</h1><p>It began.</p>']);
    expect(await read(file)).toEqual([
      { title: 'The Novel', text: 'Preface.' },
      { title: 'One', text: 'One\n\nIt began.' },
    ]);
  });

  it('of PDF has one section per page', async () => {
    const sections = await read(pdfFile('paper.pdf', ['First page (draft)', 'Second page']));
    expect(sections).toEqual([
      { title: 'paper', page: 1, text: 'First page (draft)' },
      { title: 'paper', page: 2, text: 'Second page' },
    ]);
  });
});

/** A spreadsheet with one sheet of these rows. */
function sheetFile(rows: string): DocumentFile {
  const { filename, bytes } = spreadsheetFile('stock.xlsx', 'Tea', [['name']]);
  const entries = unzipSync(bytes);
  const path = 'xl/worksheets/sheet1.xml';
  const text = strFromU8(entries[path]!).replace(/<sheetData>.*<\/sheetData>/, `<sheetData>${rows}</sheetData>`);
  return { filename, bytes: zipSync({ ...entries, [path]: strToU8(text) }) };
}

describe('an uploaded document', () => {
  it.each(['tool.exe', 'noending', 'picture.png'])('is refused if its kind is not supported: %s', async (filename) => {
    await expect(read(textFile(filename, 'x'))).rejects.toEqual(documentRefusal('document-type-not-accepted', filename));
  });

  it('is refused if its content does not match its name', async () => {
    await expect(read({ ...pdfFile('x.pdf', ['x']), filename: 'notes.txt' })).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'notes.txt'),
    );
    await expect(read({ filename: 'a.txt', bytes: Uint8Array.from([65, 0, 66]) })).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'a.txt'),
    );
    await expect(read(textFile('report.pdf', 'only text'))).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'report.pdf'),
    );
  });

  it.each([
    ['broken.json', textFile('broken.json', '{"a":')],
    ['broken.csv', textFile('broken.csv', 'a,b\n"unclosed')],
    ['broken.pdf', textFile('broken.pdf', '%PDF-1.4\nnothing of a PDF follows')],
    ['cut.docx', { filename: 'cut.docx', bytes: wordFile('cut.docx', [['text', 'x']]).bytes.slice(0, 200) }],
    ['empty.docx', zipFile('empty.docx', { 'a.txt': 'x' })],
    ['empty.xlsx', zipFile('empty.xlsx', { 'a.txt': 'x' })],
    ['empty.pptx', zipFile('empty.pptx', { 'a.txt': 'x' })],
    ['empty.epub', zipFile('empty.epub', { 'a.txt': 'x' })],
  ])('is refused if it is a damaged %s', async (filename, file) => {
    await expect(read(file)).rejects.toEqual(documentRefusal('document-unreadable', filename));
  });

  it('is refused before anything is unpacked if it would be too large unpacked', async () => {
    const bomb = {
      filename: 'bomb.docx',
      bytes: zipSync({ 'word/document.xml': new Uint8Array(5_000_000) }, { level: 9 }),
    };
    const tooBig = documentRefusal('document-too-large', 'bomb.docx');
    const path = await onDisk(bomb);
    await expect(checkFile(bomb.filename, path, PARSING_LIMITS)).resolves.toBeUndefined();
    for (const limit of [
      { unpackedBytesMax: 1_000_000 },
      { unpackedRatioMax: 100 },
      { archiveEntriesMax: 0 },
      { fileBytesMax: 100 },
    ]) {
      await expect(checkFile(bomb.filename, path, { ...PARSING_LIMITS, ...limit })).rejects.toEqual(tooBig);
      await expect(read(bomb, { ...PARSING_LIMITS, ...limit })).rejects.toEqual(tooBig);
    }
  });

  it('is refused by the check if its content does not match its name', async () => {
    const wrong = documentRefusal('document-type-not-accepted', 'a.docx');
    await expect(checkFile('a.docx', await onDisk(textFile('a.docx', 'text')), PARSING_LIMITS)).rejects.toEqual(wrong);
  });

  it.each([
    textFile('half.json', '{"a":'),
    textFile('long.json', `no JSON ${'x'.repeat(10_000)}`),
    textFile('broken.pdf', '%PDF-1.4\nnothing of a PDF follows'),
    ...['a.docx', 'a.xlsx', 'a.pptx', 'a.epub'].map((name) => zipFile(name, { 'a.txt': 'a' })),
  ])('is refused by the check if its beginning shows that it is unreadable: $filename', async (file) => {
    const { filename } = file;
    const refused = documentRefusal('document-unreadable', filename);
    await expect(checkFile(filename, await onDisk(file), PARSING_LIMITS)).rejects.toEqual(refused);
  });

  it.each([
    textFile('long.json', JSON.stringify(Array(5_000).fill('é'))),
    textFile('marked.json', '\ufeff {"a": 1}'),
    pdfFile('a.pdf', ['x']),
    wordFile('a.docx', [['text', 'x']]),
    spreadsheetFile('a.xlsx', 'S', [['x']]),
    slidesFile('a.pptx', [{ title: 'a', text: 'b' }]),
    bookFile('a.epub', 'A', ['<p>x</p>']),
  ])('is accepted if it only looks unreadable: $filename', async (file) => {
    await expect(checkFile(file.filename, await onDisk(file), PARSING_LIMITS)).resolves.toBeUndefined();
    await expect(read(file)).resolves.not.toEqual([]);
  });

  it('is refused if it unpacks to more than its directory says', async () => {
    const { bytes } = zipFile('liar.pptx', { 'ppt/presentation.xml': 'x'.repeat(10_000) });
    const directory = Buffer.from(bytes.buffer).indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
    Buffer.from(bytes.buffer).writeUInt32LE(10, directory + 24);
    await expect(read({ filename: 'liar.pptx', bytes })).rejects.toEqual(documentRefusal('document-unreadable', 'liar.pptx'));
  });

  it.each(['nested.json', 'nested.docx', 'nested.xlsx', 'nested.pptx', 'nested.epub'])(
    'is refused if it is nested too deep: %s',
    async (name) => {
      const nested = (depth: number) => nestedFile(name, depth);
      await expect(read(nested(PARSING_LIMITS.depthMax + 1))).rejects.toEqual(documentRefusal('document-too-large', name));
      await expect(read(nested(20))).resolves.toBeDefined();
    },
  );

  it.each([
    ['many.csv', `${'n'.repeat(2_000)}\n${'x\n'.repeat(1_000)}`],
    ['many.json', `{"a": {"${'n'.repeat(2_000)}": [${'1,'.repeat(1_000)}1]}}`],
  ])('is refused if repeated names would yield too much text: %s', async (filename, text) => {
    const file = textFile(filename, text);
    await expect(read(file)).rejects.toEqual(documentRefusal('document-too-large', filename));
    expect(await read(file, { ...PARSING_LIMITS, textCharsPerByteMax: 1_000 })).not.toEqual([]);
    expect(await read(file, { ...PARSING_LIMITS, textCharsMin: 10_000_000 })).not.toEqual([]);
  });

  it('is refused if a tag of a Word document has too many attributes', async () => {
    const attributes = (count: number) => Array.from({ length: count }, (_, index) => ` a${index}=""`).join('');
    const file = (count: number) => wordFile('a.docx', [['text', `x</w:t><w:x${attributes(count)}/><w:t>`]]);
    await expect(read(file(ATTRIBUTES_MAX + 1))).rejects.toEqual(documentRefusal('document-unreadable', 'a.docx'));
    await expect(read(file(ATTRIBUTES_MAX))).resolves.toHaveLength(1);
  });

  it('is refused if repeated reads of an archive exceed the limit of unpacked bytes', async () => {
    const slides = slidesFile('a.pptx', [{ title: 'One', text: 'x'.repeat(3_000) }]);
    const unpackedBytesMax = 6_000;
    await expect(read(slides, { ...PARSING_LIMITS, unpackedBytesMax })).resolves.toHaveLength(1);
    const archive = Archive.open('a.pptx', slides.bytes, { ...PARSING_LIMITS, unpackedBytesMax });
    const readThrice = async () => [1, 2, 3].forEach(() => archive.text('ppt/slides/slide1.xml'));
    await expect(readThrice()).rejects.toEqual(documentRefusal('document-too-large', 'a.pptx'));
  });

  it('is refused if it exceeds a limit of bytes, characters or pages', async () => {
    await expect(read(textFile('a.txt', 'abc'), { ...PARSING_LIMITS, fileBytesMax: 2 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.txt'),
    );
    await expect(read(textFile('a.txt', 'abc'), { ...PARSING_LIMITS, textCharsMax: 2 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.txt'),
    );
    await expect(read(pdfFile('a.pdf', ['1', '2']), { ...PARSING_LIMITS, pagesMax: 1 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.pdf'),
    );
  });
});
