import { expect, it } from '@jest/globals';
import { errorCodeIn, listingIn } from './s3-listing.policy.js';

const contents = (key: string, size = '3', etag = '&quot;abc&quot;') =>
  `<Contents><Key>${key}</Key><Size>${size}</Size><ETag>${etag}</ETag><Owner><ID>1</ID></Owner></Contents>`;
const listing = (inside: string) => `<?xml version="1.0"?><ListBucketResult xmlns="x">${inside}</ListBucketResult>`;

it('parses the objects and the token for the next part', async () => {
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b=</NextContinuationToken>';
  expect(await listingIn(listing(`${more}${contents('a &amp; b.md')}${contents('c.md', '0')}`))).toEqual({
    files: [
      { path: 'a & b.md', size: 3, version: 'abc' },
      { path: 'c.md', size: 0, version: 'abc' },
    ],
    next: 'a&b=',
  });
  expect(await listingIn(listing('<IsTruncated>false</IsTruncated><NextContinuationToken>x</NextContinuationToken>'))).toEqual({
    files: [],
    next: undefined,
  });
});

it('decodes encoded keys', async () => {
  const encoded = listing(`<EncodingType>url</EncodingType>${contents('%C3%BCber+uns%2B.md')}`);
  expect((await listingIn(encoded))?.files[0]?.path).toBe('über uns+.md');
});

it('leaves out folders, keys that a URL cannot name, and invalid entries', async () => {
  const others = [
    contents('docs/'),
    contents('../x.md'),
    contents('a/./b.md'),
    contents(''),
    contents('a.md', 'x'),
    contents('b.md', '3', ''),
  ];
  expect((await listingIn(listing(others.join(''))))?.files).toEqual([]);
});

it('returns undefined for anything else', async () => {
  for (const text of ['', '<html>', '{}', '<Error><Code>X</Code></Error>', '<a>'.repeat(5_000)])
    expect(await listingIn(text)).toBeUndefined();
});

it('extracts only the code of an error', () => {
  expect(errorCodeIn('<Error><Code>NoSuchBucket</Code><Message>AKIA1</Message></Error>')).toBe('NoSuchBucket');
  expect(errorCodeIn('<Error><Code>AKIA 1</Code></Error>')).toBeUndefined();
});
