import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { ACCESS_TABLE_FILE, accessPage } from './access-table.js';

/** The page as it stands in the repository, formatted like the others. */
export async function formattedAccessPage(): Promise<string> {
  const config = await resolveConfig(ACCESS_TABLE_FILE);
  return format(accessPage(), { ...config, parser: 'markdown' });
}

// `npm run access:dump`: writes who may do what, for reviews to see what changes.
if (process.argv[1] === import.meta.filename) await writeFile(ACCESS_TABLE_FILE, await formattedAccessPage());
