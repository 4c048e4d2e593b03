/** Settings of the pairing and of the sessions. */
export class DevicesOptions {
  constructor(
    readonly settings: Readonly<{
      pairingMs: number;
      sessionIdleMs: number;
      keepaliveMs: number;
      requiresSignature: boolean;
      /** The address where users reach this service; null if it is not configured. */
      publicUrl: string | null;
    }>,
  ) {}
}
