import readSheets from 'read-excel-file/node';
import type { Section } from '../../sources/document.port.js';
import { Archive } from './archive.js';
import type { ParsingLimits } from './limits.js';
import { titleOf } from './plain-text.js';
import { unreadable } from './refusals.js';
import { type Cell, rowsAsText } from './rows.js';

/** A section a sheet, under the sheet's name. */
export async function parseSpreadsheet(filename: string, bytes: Uint8Array, limits: ParsingLimits): Promise<readonly Section[]> {
  Archive.open(filename, bytes, limits).verify();
  const sheets = await readSheets(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).catch(() => {
    throw unreadable(filename, 'a spreadsheet');
  });
  return sheets
    .map(({ sheet, data }) => ({
      title: `${titleOf(filename)}, ${sheet}`,
      text: rowsAsText(data as readonly (readonly Cell[])[]),
    }))
    .filter(({ text }) => text !== '');
}
