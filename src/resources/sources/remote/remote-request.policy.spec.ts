import { describe, expect, it } from '@jest/globals';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';
import { DEFAULT_SOURCE_CONFIG } from '../source/source-config.policy.js';
import { remoteRequestIn, syncFrequencyIn } from './remote-request.policy.js';

const limits = { urlsMax: 3, urlCharactersMax: 50, githubWebHost: 'github.com' };
const asked = (data: unknown, fields: Record<string, string> = {}) =>
  remoteRequestIn(
    {
      source: 'url',
      name: ' Site ',
      data: typeof data === 'string' ? data : JSON.stringify(data),
      config: undefined,
      ...fields,
    },
    limits,
  );
const urlsOf = (data: unknown) => asked(data).origin.urls;

describe('the request for a source of pages', () => {
  it('has a name, a kind, addresses and a frequency', () => {
    expect(asked({ url: 'https://a.example/#top', sync_frequency: 'weekly' }, { source: 'crawler' })).toEqual({
      name: 'Site',
      origin: { kind: 'crawler', urls: ['https://a.example/'] },
      secrets: {},
      config: DEFAULT_SOURCE_CONFIG,
      frequency: 'weekly',
    });
  });

  it.each([
    [{ url: 'a.example/x' }, ['https://a.example/x']],
    [{ url: ['https://a.example/', 'https://a.example/', 'http://b.example'] }, ['https://a.example/', 'http://b.example/']],
    [{ urls: ['https://a.example/'] }, ['https://a.example/']],
    [['https://a.example/'], ['https://a.example/']],
    ['"https://a.example/"', ['https://a.example/']],
    ['https://a.example/?a=1,2', ['https://a.example/?a=1,2']],
  ])('accepts the addresses %j', (data, urls) => {
    expect(urlsOf(data)).toEqual(urls);
  });

  it('accepts several addresses in one text, separated by line ends or commas', () => {
    expect(urlsOf({ url: 'https://a.example/\nb.example\nhttps://c.example/' })).toHaveLength(3);
    expect(urlsOf({ url: 'https://a.example/, https://b.example/' })).toEqual(['https://a.example/', 'https://b.example/']);
  });

  it.each([
    [{}, 'Missing required fields: url in data'],
    [{ url: '' }, 'Missing required fields: url in data'],
    [{ url: [7] }, 'url must be an address'],
    [{ url: 'ftp://a.example/' }, 'is not an http or https address'],
    [{ url: 'file:///etc/passwd' }, 'is not an http or https address'],
    [{ url: 'http://[1' }, 'is not an http or https address'],
    [{ url: `https://a.example/${'x'.repeat(50)}` }, 'more than 50 characters'],
    [{ url: ['a.example', 'b.example', 'c.example', 'd.example'] }, 'more than 3 urls'],
    [{ url: 'a.example', sync_frequency: 'hourly' }, 'sync_frequency must be one of never, daily, weekly, monthly'],
    ['{"url": ', 'data is not JSON'],
  ])('is refused for %j', (data, reason) => {
    expect(() => asked(data)).toThrow(reason);
  });

  it('is refused without a field, with a too long name, of an unknown kind, or for a crawl of two pages', () => {
    expect(() => asked('', { name: ' ' })).toThrow('Missing required fields: name, data');
    expect(() => asked({ url: 'a.example' }, { name: 'x'.repeat(256) })).toThrow('name has more than 255 characters');
    expect(() => asked({ url: 'a.example' }, { name: 'Si\0te' })).toThrow('name must not hold NUL or half of a surrogate pair');
    for (const source of ['reddit', 'google_drive']) {
      expect(() => asked({ url: 'a.example' }, { source })).toThrow(`This service has no sources of the kind ${source}`);
    }
    expect(() => asked(['a.example', 'b.example'], { source: 'crawler' })).toThrow('A crawl starts at one url');
    expect(() => asked({ url: 'a.example' }, { config: '{"kind": "notes"}' })).toThrow('Invalid source config');
  });
});

describe('the request for a source of external files', () => {
  it('may name a repository, with the token returned separately', () => {
    const data = { repo_url: 'https://github.com/ann/handbook/tree/main/docs', access_token: ' ghp_1 ', sync_frequency: 'daily' };
    expect(asked(data, { source: 'github' })).toMatchObject({
      origin: {
        kind: 'github',
        urls: ['https://github.com/ann/handbook/tree/main/docs'],
        repository: 'ann/handbook',
        place: 'main/docs',
        credentialsId: null,
      },
      secrets: { accessToken: 'ghp_1' },
      frequency: 'daily',
    });
    for (const given of ['https://github.com/ann/handbook', { url: 'ann/handbook', access_token: '' }]) {
      expect(asked(given, { source: 'github' })).toMatchObject({
        origin: { repository: 'ann/handbook', place: null },
        secrets: {},
      });
    }
  });

  it('may name a bucket, with the keys returned separately', () => {
    const data = { aws_access_key_id: 'AKIA1', aws_secret_access_key: 's3cret', bucket: 'docs' };
    expect(asked(data, { source: 's3' })).toMatchObject({
      origin: {
        kind: 's3',
        urls: ['s3://docs/'],
        bucket: 'docs',
        prefix: '',
        region: 'us-east-1',
        endpointUrl: null,
        credentialsId: null,
      },
      secrets: { accessKeyId: 'AKIA1', secretAccessKey: 's3cret' },
    });
  });

  it.each([
    ['github', {}, 'Missing required fields: repo_url in data'],
    ['github', { repo_url: 'https://example.com/a/b' }, 'repo_url must be the address of a repository'],
    ['github', { repo_url: 'https://ghp_1@github.com/a/b' }, 'without credentials'],
    ['github', { repo_url: 'a/b', access_token: 7 }, 'access_token is not a valid token'],
    ['github', { repo_url: 'a/b', access_token: 'a\r\nx: y' }, 'access_token is not a valid token'],
    ['s3', { bucket: 'docs' }, 'Missing required fields: aws_access_key_id, aws_secret_access_key in data'],
    ['s3', 'docs', 'data must be JSON with aws_access_key_id'],
  ])('is refused as %s for %j', (source, data, reason) => {
    expect(() => asked(data, { source })).toThrow(reason);
  });
});

it('refuses too large data before it is parsed', () => {
  expect(() => asked('['.repeat(1_000_000))).toThrow('data is nested deeper than 100 levels.');
  expect(() => asked(`["${'","'.repeat(JSON_ENTRIES_MAX)}"]`)).toThrow('data holds more than 20000 fields');
});

it('accepts one of four frequencies', () => {
  expect(['never', 'daily', 'weekly', 'monthly'].map(syncFrequencyIn)).toHaveLength(4);
  for (const given of ['Daily', '', null, 7]) expect(() => syncFrequencyIn(given)).toThrow('sync_frequency must be one of');
});
