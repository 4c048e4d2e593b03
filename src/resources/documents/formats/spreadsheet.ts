import readSheets from 'read-excel-file/node';
import type { Section } from '../document.port.js';
import { TextAllowance } from '../allowance.js';
import { Archive } from './archive.js';
import type { ParsingLimits } from '../limits.js';
import { relationshipsOf } from './office-parts.js';
import { titleOf } from './plain-text.js';
import { tooLarge, unreadable } from '../refusals.js';
import { type Cell, rowsAsText } from './rows.js';
import type { XmlHandlers } from './xml.js';

const WORKBOOK = 'xl/workbook.xml';
const ADDRESS = /^([A-Z]{1,3})(\d{1,7})$/;
const LETTERS = 26;

/** One section per sheet, with the sheet's name as title. */
export async function parseSpreadsheet(filename: string, bytes: Uint8Array, limits: ParsingLimits): Promise<readonly Section[]> {
  const archive = Archive.open(filename, bytes, limits);
  const refuse = () => {
    throw unreadable(filename, 'a spreadsheet');
  };
  // The library would read a sheet once for each of its names, so a workbook that names a sheet twice is refused.
  const paths = [...relationshipsOf(archive, WORKBOOK).values()].map(({ path }) => path);
  if (new Set(paths).size < paths.length) refuse();
  const grids: Grid[] = [];
  const copy = archive.copyOfXml(() => {
    const grid = new Grid();
    grids.push(grid);
    return grid.handlers;
  });
  if (grids.some(({ cells }) => Number.isNaN(cells))) refuse();
  if (grids.reduce((sum, { cells }) => sum + cells, 0) > limits.cellsMax) {
    throw tooLarge(filename, `its sheets have more than ${limits.cellsMax} cells.`);
  }
  const sheets = await readSheets(copy).catch(refuse);
  const allowance = new TextAllowance(filename, limits, archive.unpackedBytes);
  return sheets
    .map(({ sheet, data }) => ({
      title: `${titleOf(filename)}, ${sheet}`,
      text: rowsAsText(data as readonly (readonly Cell[])[], allowance),
    }))
    .filter(({ text }) => text !== '');
}

/** Counts the cells that the library creates for a sheet: all up to the last row and column that occur. */
class Grid {
  private rows = 0;
  private columns = 0;
  private row = 0;
  private column = 0;
  private isData = false;

  readonly handlers: XmlHandlers = {
    onOpen: (tag, { r }) => {
      if (tag === 'sheetData') this.isData = true;
      if (!this.isData || (tag !== 'row' && tag !== 'c')) return;
      if (tag === 'row') [this.row, this.column] = [r === undefined ? this.row + 1 : Number(r), 0];
      else [this.row, this.column] = r === undefined ? [this.row, this.column + 1] : addressOf(r);
      [this.rows, this.columns] = [Math.max(this.rows, this.row), Math.max(this.columns, this.column)];
    },
    onClose: (tag) => {
      if (tag === 'sheetData') this.isData = false;
    },
  };

  /** NaN if the address of a cell is invalid. */
  get cells(): number {
    return this.rows * Math.max(1, this.columns);
  }
}

function addressOf(written: string): [row: number, column: number] {
  const [, letters = '', digits] = ADDRESS.exec(written) ?? [];
  const column = [...letters].reduce((sum, letter) => sum * LETTERS + letter.charCodeAt(0) - 64, 0);
  return [Number(digits), column];
}
