import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
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
    // Global modules are started in this order. Commands have their handlers before the background work sends one.
    const global = [CqrsModule.forRoot(), PlatformModule.over(platform, log), HttpModule, ToolKindsModule];
    return { module: AppModule, imports: [...global, ...ROOMS, BackgroundModule] };
  }
}
