import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { testDatabase } from '../test/support/postgres-for-tests.js';
import { describeSchemas, makeSchemas, SCHEMAS_FILE } from '../test/support/schemas.js';

it('the schema of a new database equals schema.txt, which `npm run schema:dump` writes', async () => {
  const { sql, url, close } = await testDatabase();
  try {
    await makeSchemas(sql, url);
    expect(await describeSchemas(sql)).toBe(await readFile(SCHEMAS_FILE, 'utf8'));
  } finally {
    await close();
  }
});
