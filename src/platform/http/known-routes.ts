/** The methods and paths the application answers, noted as they are registered, so that a wrong method is told from a wrong path. */
export class KnownRoutes {
  private readonly routes: { segments: readonly string[]; methods: readonly string[] }[] = [];

  /** What answers everywhere, as preflights are answered, tells nothing about a path. */
  add(methods: string | readonly string[], pattern: string): void {
    if (pattern === '*' || pattern === '/*') return;
    this.routes.push({ segments: segmentsOf(pattern), methods: [methods].flat() });
  }

  /** The methods that would have been answered at a path; none when nothing is there. */
  methodsAt(path: string): readonly string[] {
    const segments = segmentsOf(path);
    const here = this.routes.filter((route) => matches(route.segments, segments));
    return [...new Set(here.flatMap(({ methods }) => methods))].sort();
  }
}

/** A slash at the end says nothing; an empty segment is one that no pattern has. */
const segmentsOf = (path: string): readonly string[] => path.replace(/^\/|\/$/g, '').split('/');

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const rest = pattern.indexOf('*');
  if (rest >= 0 ? path.length < rest : path.length !== pattern.length) return false;
  const fixed = rest >= 0 ? pattern.slice(0, rest) : pattern;
  return fixed.every((segment, index) => segment.startsWith(':') || segment === path[index]);
}
