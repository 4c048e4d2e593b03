/** How much is kept for a user; 0: as much as comes. */
export type ArtifactLimits = Readonly<{ versionBytesMax: number; perUserMax: number; bytesPerUserMax: number }>;

/** What artifacts need to know of the configuration. */
export class ArtifactsOptions {
  constructor(
    readonly limits: ArtifactLimits,
    /** Under which address clients reach the service, where that is known. */
    readonly baseUrl: string | undefined,
  ) {}
}
