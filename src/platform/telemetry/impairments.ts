import {
  degraded,
  type DependencyCondition,
  type FollowerCondition,
  type Impairment,
  notReady,
  type Readiness,
} from '../../kernel/conditions.js';

type Named<T> = Readonly<Record<string, T>>;

/**
 * The impairments of dependencies and followers. Lag is not an impairment, because it would make all processes unready together.
 */
export function impairmentsIn(
  dependencies: Named<DependencyCondition>,
  projections: Named<FollowerCondition>,
  reactions: Named<FollowerCondition>,
): readonly Impairment[] {
  return [
    ...Object.entries(dependencies)
      .filter(([, { ok }]) => !ok)
      .map(([name, { error }]) => notReady(`${name} does not answer: ${error}`)),
    ...followerImpairments('read model', projections),
    ...followerImpairments('reaction', reactions),
  ];
}

/** Followers often fail together with the same reason, which is reported once. */
function followerImpairments(kind: string, followers: Named<FollowerCondition>): readonly Impairment[] {
  const alike = new Map<string, { ok: boolean; error: string; names: string[] }>();
  for (const [name, { ok, error }] of Object.entries(followers)) {
    if (error === undefined) continue;
    const key = `${ok} ${error}`;
    const group = alike.get(key) ?? { ok, error, names: [] };
    group.names.push(name);
    alike.set(key, group);
  }
  return [...alike.values()].map(({ ok, error, names }) => {
    const which = `${kind}${names.length > 1 ? 's' : ''} ${names.join(', ')}`;
    return ok ? degraded(`Not kept up: ${which}: ${error}`) : notReady(`Not usable: ${which}: ${error}`);
  });
}

/** The worst readiness of the impairments, and all reasons, worst first. */
export function readinessOf(impairments: readonly Impairment[]): Readonly<{ readiness: Readiness; reasons: readonly string[] }> {
  const reasonsOf = (readiness: Readiness) =>
    impairments.filter((each) => each.readiness === readiness).map(({ reason }) => reason);
  const [worst, lesser] = [reasonsOf('not_ready'), reasonsOf('degraded')];
  const readiness = worst.length > 0 ? 'not_ready' : lesser.length > 0 ? 'degraded' : 'ready';
  return { readiness, reasons: [...worst, ...lesser] };
}
