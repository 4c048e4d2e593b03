import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { ACCESS_TABLE_FILE, accessPage } from './access-table.js';

/** The access page, formatted like the other pages in the repository. */
export async function formattedAccessPage(): Promise<string> {
  const config = await resolveConfig(ACCESS_TABLE_FILE);
  return format(accessPage(), { ...config, parser: 'markdown' });
}

// `npm run access:dump`: writes the access table into the repository, so that reviews show changes.
if (process.argv[1] === import.meta.filename) await writeFile(ACCESS_TABLE_FILE, await formattedAccessPage());
