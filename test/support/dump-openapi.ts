import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { describeSources, readSources } from './reference/described-sources.js';
import { readable } from './reference/readable.js';

// `npm run openapi:dump`: writes the API reference that the code declares. `--print` prints it instead.
const program = readSources();
await describeSources(program);
// These load the controllers, with their descriptions.
const [{ apiDocument }, { swaggerDocument }] = await Promise.all([
  import('./reference/api-document.js'),
  import('./reference/swagger-document.js'),
]);
const document = apiDocument(program);
const texts = { 'openapi.json': readable(document), 'swagger.json': readable(swaggerDocument(document)) };
if (process.argv.includes('--print')) process.stdout.write(JSON.stringify(texts));
else for (const [name, text] of Object.entries(texts)) await writeFile(new URL(`../../docs/${name}`, import.meta.url), text);
