import { Injectable } from '@nestjs/common';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { visible } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';

/** Finds the sources that older clients name by their location. */
@Injectable()
export class NamedSources {
  constructor(private readonly sources: SourceQueries) {}

  /** The ids of the user's sources with these ids or names, or with the id or name at the end of these paths. Of several, the newest. */
  async find(user: SignedInUser, locations: readonly string[]): Promise<readonly (string | undefined)[]> {
    const own = visible(user, 'sources', await this.sources.ownedBy(user.userId));
    return locations.map((location) => {
      const wanted = lastPartOf(location);
      return own.find(({ id, name }) => id === wanted || name === wanted || name === location)?.id;
    });
  }
}

/** The part of a location that names a source, such as `Handbook` of `local/Handbook/`. */
export const lastPartOf = (location: string): string => location.split('/').findLast((part) => part !== '') ?? '';
