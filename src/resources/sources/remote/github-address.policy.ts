/** A repository address. `place` is a branch, tag or commit followed by a path. Only GitHub knows where the path begins. */
export type RepositoryAddress = Readonly<{ owner: string; repository: string; place: string | null; url: string }>;

const OWNER = /^[a-z\d][a-z\d_-]{0,99}$/i;
const REPOSITORY = /^[\w.-]{1,100}$/;
const PLACE_CHARACTERS_MAX = 500;

/** The host of the web pages of a GitHub whose API has this address. */
export function webHostOf(apiBaseUrl: string): string {
  return new URL(apiBaseUrl).host.replace(/^api\./, '');
}

/**
 * Parses `https://github.com/owner/repository`, also with `.git`, `/tree/…` or `/blob/…`, without the scheme, as
 * `owner/repository`, or as an SSH address for git. Undefined for anything else.
 */
export function repositoryAddressIn(given: string, webHost: string): RepositoryAddress | undefined {
  const text = given.trim().replace(/^git@([^:/]+):/, 'https://$1/');
  const isBare = /^[\w-]+\/[\w.-]+$/.test(text);
  const url = URL.parse(isBare ? `https://${webHost}/${text}` : /^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (!url || url.username !== '' || url.password !== '') return undefined;
  if (url.host !== webHost && url.host !== `www.${webHost}`) return undefined;
  const steps = stepsOf(url.pathname);
  const [owner = '', named = '', kind, ...rest] = steps ?? [];
  const repository = named.replace(/\.git$/, '');
  if (!OWNER.test(owner) || !REPOSITORY.test(repository) || /^\.{1,2}$/.test(repository)) return undefined;
  const isPlace = (kind === 'tree' || kind === 'blob') && rest.length > 0;
  if (kind !== undefined && !isPlace) return undefined;
  const place = isPlace ? rest.join('/') : null;
  if (place !== null && place.length > PLACE_CHARACTERS_MAX) return undefined;
  const path = [owner, repository, ...(place === null ? [] : ['tree', ...rest])];
  return { owner, repository, place, url: `${url.protocol}//${webHost}/${path.map(encodeURIComponent).join('/')}` };
}

/** All ways to split a place into a reference and a path, since the names of references may contain slashes. */
export function referencesIn(place: string): readonly Readonly<{ reference: string; path: string }>[] {
  const steps = place.split('/');
  return steps.map((_, index) => ({
    reference: steps.slice(0, index + 1).join('/'),
    path: steps.slice(index + 1).join('/'),
  }));
}

function stepsOf(pathname: string): readonly string[] | undefined {
  try {
    return pathname
      .split('/')
      .filter((step) => step !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
