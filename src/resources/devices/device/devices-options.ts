/** How devices are paired and served. */
export class DevicesOptions {
  constructor(
    readonly settings: Readonly<{
      pairingMs: number;
      sessionIdleMs: number;
      keepaliveMs: number;
      requiresSignature: boolean;
      /** Where users find this service; null: it does not know. */
      publicUrl: string | null;
    }>,
  ) {}
}
