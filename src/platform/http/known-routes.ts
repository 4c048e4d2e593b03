/** The registered methods and paths, which distinguish a wrong method (405) from an unknown path (404). */
export class KnownRoutes {
  private readonly routes: { segments: readonly string[]; methods: readonly string[] }[] = [];

  /** Adds a route. Wildcard routes, such as that of CORS preflights, are ignored. */
  add(methods: string | readonly string[], pattern: string): void {
    if (pattern === '*' || pattern === '/*') return;
    this.routes.push({ segments: segmentsOf(pattern), methods: [methods].flat() });
  }

  /** The methods of a path; empty for an unknown path. */
  methodsAt(path: string): readonly string[] {
    const segments = segmentsOf(path);
    const here = this.routes.filter((route) => matches(route.segments, segments));
    return [...new Set(here.flatMap(({ methods }) => methods))].sort();
  }
}

/** The segments of a path without a trailing slash. No pattern matches an empty segment. */
const segmentsOf = (path: string): readonly string[] => path.replace(/^\/|\/$/g, '').split('/');

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const rest = pattern.indexOf('*');
  if (rest >= 0 ? path.length < rest : path.length !== pattern.length) return false;
  const fixed = rest >= 0 ? pattern.slice(0, rest) : pattern;
  return fixed.every((segment, index) => segment === path[index] || (segment.startsWith(':') && path[index] !== ''));
}
