import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { BackgroundModule } from './background.module.js';
import { HttpModule } from './http.module.js';
import type { Platform } from './platform.js';
import { PlatformModule } from './platform.module.js';
import { ROOMS } from './rooms.js';
import { ToolKindsModule } from './tool-kinds.module.js';

/** The root module of the service, over an open platform. */
@Module({})
export class AppModule {
  static over(platform: Platform, log: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.over(platform, log), HttpModule, ToolKindsModule, ...ROOMS, BackgroundModule],
    };
  }
}
