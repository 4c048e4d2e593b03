/** The number of chunks for a question from all its sources together, unless the request or the agent sets it. */
export const CHUNKS_DEFAULT = 6;
export const SEARCH_CHUNKS_DEFAULT = 5;
export const CHUNKS_MAX = 500;

/** Clamps a requested number of chunks to a whole number from 0 to CHUNKS_MAX. */
export const chunksWithinBounds = (wanted: number): number =>
  Number.isNaN(wanted) ? CHUNKS_DEFAULT : Math.min(CHUNKS_MAX, Math.max(0, Math.trunc(wanted)));

/** The weight of a term that `having` of `all` chunks contain. A rarer term weighs more. Never negative. */
export const inverseFrequency = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5));

/** The constant of reciprocal rank fusion that its authors chose. It makes the first few ranks count nearly the same. */
const FUSION_OFFSET = 60;

/** Combines rankings by rank instead of score, because scores of different kinds are not comparable. */
export function fuse(rankings: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const scores = new Map<string, number>();
  for (const ranking of rankings) {
    ranking.forEach((key, place) => scores.set(key, (scores.get(key) ?? 0) + 1 / (FUSION_OFFSET + place + 1)));
  }
  return scores;
}

export type Candidate = Readonly<{ sourceId: string; score: number }>;

/** A searched source, with its own number of chunks if it has one. */
export type Asked = Readonly<{ id: string; chunks?: number }>;

/**
 * Selects the `total` best candidates, best first. A source with its own count contributes its best up to that count, even beyond
 * the total. The other sources share the rest: each may fill an equal part with its best, and unused parts are filled with the
 * best remaining candidates.
 */
export function selectFairly<C extends Candidate>(
  candidates: readonly C[],
  sources: readonly Asked[],
  total: number,
): readonly C[] {
  const ranked = [...candidates].sort((a, b) => b.score - a.score);
  const own = new Map(sources.flatMap(({ id, chunks }) => (chunks === undefined ? [] : [[id, chunks] as const])));
  const counted = firstOfEach(
    ranked.filter(({ sourceId }) => own.has(sourceId)),
    ({ sourceId }) => own.get(sourceId)!,
  );
  const sharing = ranked.filter(({ sourceId }) => !own.has(sourceId));
  const left = Math.max(0, total - counted.length);
  const part = Math.floor(left / Math.max(1, sources.length - own.size));
  const parts = firstOfEach(sharing, () => part);
  const selected = new Set([...counted, ...parts]);
  const others = sharing.filter((candidate) => !selected.has(candidate)).slice(0, left - parts.length);
  for (const candidate of others) selected.add(candidate);
  return ranked.filter((candidate) => selected.has(candidate));
}

function firstOfEach<C extends Candidate>(ranked: readonly C[], count: (candidate: C) => number): readonly C[] {
  const taken = new Map<string, number>();
  return ranked.filter((candidate) => {
    const before = taken.get(candidate.sourceId) ?? 0;
    if (before >= count(candidate)) return false;
    taken.set(candidate.sourceId, before + 1);
    return true;
  });
}
