import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import { sourceNameIn } from '../source/source-name.policy.js';
import { Rejection } from '../../../kernel/rejection.js';
import { parseSourceConfig, type SourceConfig } from '../source/source-config.policy.js';
import {
  type GithubOrigin,
  type PagesOrigin,
  REMOTE_KINDS,
  type RemoteKind,
  type RemoteOrigin,
} from '../source/source.events.js';
import { SYNC_FREQUENCIES, type SyncFrequency } from '../source/sync.policy.js';
import { repositoryAddressIn } from './github-address.policy.js';
import { S3_KEY_FIELDS, s3RequestIn } from './s3-request.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

type Secrets = Readonly<Record<string, string>>;

/** The request of a form: where the source is fetched from, with which credentials, and how often it is synced. */
export type RemoteRequest = Readonly<{
  name: string;
  origin: RemoteOrigin;
  secrets: Secrets;
  config: SourceConfig;
  frequency: SyncFrequency;
}>;

/** The fields of the form. A field that is not text counts as missing. */
export type RemoteFields = Readonly<Record<'source' | 'name' | 'data' | 'config', string | undefined>>;

export type RemoteRequestLimits = Readonly<{
  urlsMax: number;
  urlCharactersMax: number;
  githubWebHost: string;
}>;

const ACCESS_TOKEN = /^[\x21-\x7e]{1,500}$/;

/** @throws Rejection `invalid-request` */
export function remoteRequestIn(fields: RemoteFields, limits: RemoteRequestLimits): RemoteRequest {
  const missing = (['source', 'name', 'data'] as const).filter((field) => !fields[field]?.trim());
  if (missing.length > 0) throw invalid(`Missing required fields: ${missing.join(', ')}`);
  const name = sourceNameIn(fields.name);
  const kind = kindIn(fields.source!.trim());
  const data = dataIn(fields.data!);
  const { origin, secrets } = askedFor(kind, data, limits);
  const frequency = isJsonObject(data) ? (data['sync_frequency'] ?? 'never') : 'never';
  return { name, origin, secrets, config: parseSourceConfig(fields.config), frequency: syncFrequencyIn(frequency) };
}

function askedFor(kind: RemoteKind, data: unknown, limits: RemoteRequestLimits): Pick<RemoteRequest, 'origin' | 'secrets'> {
  if (kind === 'github') return repositoryIn(data, limits.githubWebHost);
  if (kind !== 's3') return { origin: pagesIn(kind, data, limits), secrets: {} };
  if (!isJsonObject(data)) throw invalid(`data must be JSON with ${S3_KEY_FIELDS.join(', ')} and bucket`);
  const request = s3RequestIn(data);
  if ('refused' in request) throw invalid(request.refused);
  return request;
}

function pagesIn(kind: PagesOrigin['kind'], data: unknown, limits: RemoteRequestLimits): PagesOrigin {
  const urls = [...new Set(addressesIn(data).map((address) => urlIn(address, limits.urlCharactersMax)))];
  if (urls.length === 0) throw invalid('Missing required fields: url in data');
  if (kind === 'crawler' && urls.length > 1) throw invalid('A crawl starts at one url');
  if (urls.length > limits.urlsMax) throw invalid(`data names more than ${limits.urlsMax} urls`);
  return { kind, urls };
}

/** The address of a repository, alone or as `repo_url`. A private repository needs a token. */
function repositoryIn(data: unknown, webHost: string): Readonly<{ origin: GithubOrigin; secrets: Secrets }> {
  const given = isJsonObject(data) ? (data['repo_url'] ?? data['url']) : data;
  if (typeof given !== 'string' || given.trim() === '') throw invalid('Missing required fields: repo_url in data');
  const address = repositoryAddressIn(given, webHost);
  if (!address)
    throw invalid(`repo_url must be the address of a repository, such as https://${webHost}/owner/name, without credentials`);
  const { owner, repository, place, url } = address;
  const token = isJsonObject(data) ? (data['access_token'] ?? '') : '';
  if (typeof token !== 'string' || (token !== '' && !ACCESS_TOKEN.test(token.trim())))
    throw invalid('access_token is not a valid token');
  const origin: GithubOrigin = { kind: 'github', urls: [url], repository: `${owner}/${repository}`, place, credentialsId: null };
  return { origin, secrets: token === '' ? {} : { accessToken: token.trim() } };
}

/** @throws Rejection `invalid-request` */
export function syncFrequencyIn(given: unknown): SyncFrequency {
  const frequency = SYNC_FREQUENCIES.find((each) => each === given);
  if (frequency === undefined) throw invalid(`sync_frequency must be one of ${SYNC_FREQUENCIES.join(', ')}`);
  return frequency;
}

function kindIn(source: string): RemoteKind {
  const kind = REMOTE_KINDS.find((each) => each === source);
  if (kind === undefined) {
    throw invalid(`This service has no sources of the kind ${source.slice(0, 40)}; it has ${REMOTE_KINDS.join(', ')}`);
  }
  return kind;
}

/** Parses JSON, or returns an address that is not written as JSON. */
function dataIn(text: string): unknown {
  try {
    return parseBoundedJson(text, 'data');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (/^[\s[{"]/.test(text)) throw invalid('data is not JSON');
    return text;
  }
}

/** One address or a list, alone or as `url`. A text may hold several addresses, separated by line ends or commas. */
function addressesIn(data: unknown): readonly string[] {
  const given = isJsonObject(data) ? (data['url'] ?? data['urls']) : data;
  const each = Array.isArray(given)
    ? (given as unknown[])
    : typeof given === 'string'
      ? given.split(/\n|,(?=\s*[a-z][a-z\d+.-]*:\/\/)/i)
      : [];
  if (each.some((address) => typeof address !== 'string')) throw invalid('url must be an address or a list of addresses');
  return (each as readonly string[]).map((address) => address.trim()).filter((address) => address !== '');
}

/** Adds https if the scheme is missing. @throws Rejection `invalid-request` */
function urlIn(address: string, charactersMax: number): string {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `https://${address}`);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid(`${address.slice(0, 100)} is not an http or https address`);
  if (url.href.length > charactersMax) throw invalid(`A url has more than ${charactersMax} characters`);
  url.hash = '';
  return url.href;
}

const invalid = (why: string): Rejection => new Rejection('invalid-request', why);
