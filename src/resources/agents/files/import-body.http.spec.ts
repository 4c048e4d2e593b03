import { expect, it } from '@jest/globals';
import { type ImportRequest, readImportBody } from './import-body.http.js';

const request = { isMultipart: () => false } as ImportRequest;

it.each(['{"sources":{}}', [], true, 7])(
  'a resolution that is not an object is refused, because the import would be made without its decisions: %j',
  async (resolution) => {
    await expect(readImportBody(request, { yaml: 'kind: Agent', resolution })).rejects.toThrow('resolution must be an object');
  },
);

it('a resolution may be left out', async () => {
  for (const resolution of [undefined, null, {}])
    expect(await readImportBody(request, { yaml: 'x', resolution })).toEqual({ text: 'x', resolution: {} });
});
