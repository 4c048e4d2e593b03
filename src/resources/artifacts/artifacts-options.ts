/** The storage limits of a user. 0 means unlimited. */
export type ArtifactLimits = Readonly<{ versionBytesMax: number; perUserMax: number; bytesPerUserMax: number }>;

/** The configuration of this room. */
export class ArtifactsOptions {
  constructor(
    readonly limits: ArtifactLimits,
    /** The address under which clients reach the service, if it is configured. */
    readonly baseUrl: string | undefined,
  ) {}
}
