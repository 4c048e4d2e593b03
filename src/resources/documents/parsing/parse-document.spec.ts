import { describe, expect, it } from '@jest/globals';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { bookFile, pdfFile, slidesFile, spreadsheetFile, textFile, wordFile } from '../../../../test/support/document-files.js';
import { documentRefusal } from '../../../../test/support/document-refusal.js';
import type { DocumentFile } from '../document.port.js';
import { TITLE_CHARACTERS_MAX } from '../formats/markdown.js';
import { WHITE_SPACE_MAX } from '../formats/plain-text.js';
import { PARSING_LIMITS } from '../limits.js';
import { parseDocument } from './parse-document.js';

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

  it.each([
    ['a comma in a quoted name', '"Last, first";city\nAnn;Bern\n', 'Last, first: Ann, city: Bern'],
    ['a first line that names the delimiter, as Excel writes it', 'sep=|\nname;x|city\nAnn|Bern\n', 'name;x: Ann, city: Bern'],
  ])('of CSV may have %s', async (_, csv, text) =>
    expect(await read(textFile('people.csv', csv))).toEqual([{ title: 'people', text }]),
  );

  it('of JSON has a line with the path for every value', async () => {
    const json = JSON.stringify({ version: 2, users: [{ name: 'Ann', tags: ['a', 'b'] }, { name: 'Bob' }] });
    expect(await read(textFile('data.json', json))).toEqual([
      { title: 'data', text: 'version: 2' },
      { title: 'users', text: 'users\n\nname: Ann\ntags.0: a\ntags.1: b\n\nname: Bob' },
    ]);
  });

  it('of JSON keeps the digits of numbers that no double holds', async () =>
    expect(await read(textFile('ids.json', '[{"id":1234567890123456789}]'))).toEqual([
      { title: 'ids', text: 'id: 1234567890123456789' },
    ]));

  it.each([
    ['<!-- <meta charset="gbk"> --><meta charset=windows-1251>'],
    ['<META http-equiv="Content-Type" content="text/html; charset=Windows-1251">'],
    ['<?xml version="1.0" encoding="windows-1251"?>'],
  ])('of HTML has the character set that the page declares: %s', async (declaration) => {
    const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
    const page = (text: Buffer) => ({ filename: 'a.html', bytes: Buffer.concat([Buffer.from(`${declaration}<p>`), text]) });
    expect((await read(page(cyrillic)))[0]?.text).toBe('Привет');
    // A server or a tool that converts a page may leave its declaration as it was.
    expect((await read(page(Buffer.from('Привет'))))[0]?.text).toBe('Привет');
  });

  it('of HTML may declare an unknown character set', async () => {
    const page = { filename: 'a.html', bytes: Buffer.from('<meta charset="klingon"><p>\xe9', 'latin1') };
    expect((await read(page))[0]?.text).toBe('é');
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
