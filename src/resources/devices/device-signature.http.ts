import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../kernel/clock.js';
import { jsonTextOf } from '../../platform/http/bodies/json-body.js';
import { identityOf } from '../identity/identity.http.js';
import { bytesIn } from './device-fields.http.js';
import { DevicesOptions } from './device/devices-options.js';
import { checkSignature } from './device/machine-key.policy.js';
import { StoredDevices } from './device/stored-devices.js';

/** If signatures are required, refuses each request of a device that its machine has not signed. */
@Injectable()
export class DeviceSignature implements CanActivate {
  constructor(
    private readonly devices: StoredDevices,
    private readonly clock: Clock,
    private readonly options: DevicesOptions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { device } = identityOf(context);
    if (!device || !this.options.settings.requiresSignature) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { paired } = await this.devices.byId(device.deviceId);
    const header = (name: string) => [request.headers[`x-device-${name}`]].flat()[0];
    checkSignature(
      paired!.machineKey,
      {
        signature: header('signature'),
        timestamp: header('timestamp'),
        fingerprint: header('machine-key'),
        publicKey: header('machine-pubkey'),
        method: request.method,
        path: request.url.split('?', 1)[0]!,
        body: bytesIn(request.body) ?? Buffer.from(jsonTextOf(request) ?? ''),
      },
      this.clock.now(),
    );
    return true;
  }
}
