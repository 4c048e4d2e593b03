import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, type FormatConfig } from 'oxfmt';
import { ACCESS_TABLE_FILE, accessPage } from './access-table.js';

const CONFIG_FILE = join(import.meta.dirname, '../../.oxfmtrc.json');

/** The access page, formatted like the other pages in the repository. */
export async function formattedAccessPage(): Promise<string> {
  const config = JSON.parse(readFileSync(CONFIG_FILE, 'utf8')) as FormatConfig;
  const { code } = await format('access.md', accessPage(), config);
  return code;
}

// `npm run access:dump`: writes the access table into the repository, so that reviews show changes.
if (process.argv[1] === import.meta.filename) await writeFile(ACCESS_TABLE_FILE, await formattedAccessPage());
