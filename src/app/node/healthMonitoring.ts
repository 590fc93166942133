import type { Logger } from 'pino';
import type { HealthMonitorOptions } from '../../base/async/healthMonitor.ts';
import type { Clock } from '../../base/values/clock.ts';
import { ProviderHealth } from '../../models/failover/providerHealth.ts';
import type { Config } from '../settings/config.ts';

/** Logs once when a dependency goes down and once when it is back. */
export function logHealthChanges(part: string, logger: Logger, clock: Clock): HealthMonitorOptions {
  return {
    clock,
    onChange(change) {
      if (change.isDown) {
        const reason = reasonOf(change.reason);
        logger.error({ part, reason }, 'dependency unavailable; requests that need it are rejected');
      } else {
        logger.error({ part, downMs: change.downMs }, 'dependency available again');
      }
    },
  };
}

/** Knows which providers work; logs once when one fails and once when it works again. */
export function createProviderHealth(
  {
    CHAT_PROVIDER,
    STT_PROVIDER,
    TTS_PROVIDER,
  }: Pick<Config, 'CHAT_PROVIDER' | 'STT_PROVIDER' | 'TTS_PROVIDER'>,
  logger: Logger,
  clock: Clock,
): ProviderHealth {
  return new ProviderHealth({
    expected: [
      { model: 'chat', provider: CHAT_PROVIDER },
      { model: 'transcription', provider: STT_PROVIDER },
      { model: 'speech', provider: TTS_PROVIDER },
    ],
    clock,
    onChange({ isDegraded, ...fields }) {
      if (isDegraded) logger.error(fields, 'provider fails; readyz shows it as degraded');
      else logger.warn(fields, 'provider works again');
    },
  });
}

/** The driver's message: ours says only that the dependency is unavailable. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
