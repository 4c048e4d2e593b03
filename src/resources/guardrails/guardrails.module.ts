import { Global, Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { GuardrailEventQueries } from '../../../projections/guardrail-events/guardrail-events.queries.js';
import { Config, ConfigInvalid } from '../../platform/config/config.js';
import { ConfiguredGuardrails } from './configured-guardrails.js';
import { checksIn, floorIn } from './guardrail-floor.policy.js';
import { GuardrailOptions, type GuardrailSettings } from './guardrail-options.js';
import { PurgeGuardrailRecordHandler, RecordGuardrailDecisionsHandler } from './guardrail-record.commands.js';
import { guardrailRecordPurges } from './guardrail-record.purges.js';
import { GuardrailsController } from './guardrails.http.js';
import { Guardrails } from './guardrails.port.js';
import { PolicyJudge } from './policy-judge.js';
import { PurgeGuardrailRecords } from './purge-guardrail-records.js';

const RETENTION = [PurgeGuardrailRecords];

/** The checks of incoming and outgoing texts, for every module that accepts or returns texts. */
@Global()
@Module({
  controllers: [GuardrailsController],
  providers: [
    ...RETENTION,
    AgentQueries,
    GuardrailEventQueries,
    {
      provide: GuardrailOptions,
      inject: [Config],
      useFactory: (config: Config) => new GuardrailOptions(GuardrailsModule.settingsIn(config)),
    },
    PolicyJudge,
    { provide: Guardrails, useClass: ConfiguredGuardrails },
    RecordGuardrailDecisionsHandler,
    PurgeGuardrailRecordHandler,
  ],
  exports: [...RETENTION, Guardrails],
})
export class GuardrailsModule {
  static readonly retention = RETENTION;
  static readonly purges = guardrailRecordPurges;

  /** The operator's settings. @throws ConfigInvalid that names the variable */
  static settingsIn(this: void, config: Config): GuardrailSettings {
    try {
      const checks = checksIn(config.guardrailsChecksEnabled);
      return {
        enabled: config.guardrailsEnabled,
        checks,
        floor: floorIn(config.guardrailsFloor, checks),
        judgeModelId: config.guardrailsJudgeModelId,
        retentionMs: config.guardrailsEventsRetentionSeconds * 1000,
      };
    } catch (error) {
      throw new ConfigInvalid([(error as Error).message]);
    }
  }
}
