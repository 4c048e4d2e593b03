import { Module } from '@nestjs/common';
import { DeviceQueries } from '../../../projections/devices/devices.queries.js';
import { Config } from '../../platform/config/config.js';
import { DeviceDirectory } from '../identity/device-directory.port.js';
import { IdentityModule } from '../identity/identity.module.js';
import { deviceHandlers } from './device/device.commands.js';
import { DeviceOutputs } from './invocations/device-outputs.js';
import { DeviceSessionController } from './device-session.http.js';
import { DeviceSessions } from './invocations/device-sessions.js';
import { DeviceSignature } from './device-signature.http.js';
import { DeviceTools } from './device-tool.reaction.js';
import { DevicesController } from './devices.http.js';
import { DevicesOptions } from './device/devices-options.js';
import { devicesRejections } from './devices.rejections.js';
import { EndInvocations } from './invocations/end-invocations.ticker.js';
import { deviceInvocationHandlers } from './invocations/device-invocation.commands.js';
import { PairingsController } from './pairings.http.js';
import { RemoteDeviceTool } from './invocations/remote-device-tool.js';
import { StoredDevices } from './device/stored-devices.js';

const REACTIONS = [DeviceTools];
const TICKERS = [EndInvocations];
const TOOL_KINDS = [RemoteDeviceTool];

/** Machines that users have paired, and the tool that runs commands on them. */
@Module({
  imports: [IdentityModule],
  controllers: [PairingsController, DeviceSessionController, DevicesController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...TOOL_KINDS,
    DeviceQueries,
    StoredDevices,
    { provide: DeviceDirectory, useExisting: StoredDevices },
    DeviceSessions,
    DeviceOutputs,
    DeviceSignature,
    {
      provide: DevicesOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new DevicesOptions({
          pairingMs: config.devicePairingMs,
          sessionIdleMs: config.deviceSessionIdleMs,
          keepaliveMs: config.sseKeepaliveMs,
          requiresSignature: config.deviceRequiresSignature,
          publicUrl: config.publicApiBaseUrl ?? null,
        }),
    },
    ...deviceHandlers,
    ...deviceInvocationHandlers,
  ],
  exports: [...REACTIONS, ...TICKERS, ...TOOL_KINDS, DeviceDirectory],
})
export class DevicesModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly toolKinds = TOOL_KINDS;
  static readonly rejections = devicesRejections;
}
