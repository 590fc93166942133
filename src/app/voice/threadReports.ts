import type { SpokenTurn } from '../../conversation/turns/turnLatency.ts';
import type { KeyOwner, ModelKind, ProviderMetrics } from '../../models/ports/metrics.ts';
import type { ModelErrorCode } from '../../models/ports/modelError.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import type { UtteranceResult } from '../../voice/recognition/heardSpeech.ts';

/** What a voice thread reports to the main thread, which has the log, the metrics and the webhooks of the node. */
export interface ThreadReports {
  /** A formatted line of the log. */
  log(line: string): void;
  /** A session has ended, and its webhooks are due. */
  sessionEnded(): void;
  turn(turn: SpokenTurn): void;
  utterance(result: UtteranceResult): void;
  modelError(provider: Provider, error: { readonly code: ModelErrorCode; readonly message: string }): void;
  modelFirstOutput(provider: Provider, waitedMs: number): void;
  modelOutput(provider: Provider): void;
}

interface Provider {
  readonly model: ModelKind;
  readonly provider: string;
  readonly owner: KeyOwner;
}

export type ThreadMetrics = Pick<SessionMetrics, 'turn' | 'utterance' | 'providerMetrics'>;

/** Metrics of a voice thread: counted in the main thread, so that they outlive the thread. */
export function reportedMetrics(main: ThreadReports): ThreadMetrics {
  return {
    turn: main.turn,
    utterance: main.utterance,
    providerMetrics(model, provider, owner = 'installation') {
      const named = { model, provider, owner };
      return {
        recordError: ({ code, message }) => main.modelError(named, { code, message }),
        recordFirstOutput: (waitedMs) => main.modelFirstOutput(named, waitedMs),
        recordOutput: () => main.modelOutput(named),
      };
    },
  };
}

/** The main thread's side. */
export function receiveReports(
  { turn, utterance, providerMetrics }: ThreadMetrics,
  others: Pick<ThreadReports, 'log' | 'sessionEnded'>,
): ThreadReports {
  const metricsOf = ({ model, provider, owner }: Provider): ProviderMetrics =>
    providerMetrics(model, provider, owner);
  return {
    ...others,
    turn,
    utterance,
    modelError: (provider, error) => metricsOf(provider).recordError(error),
    modelFirstOutput: (provider, waitedMs) => metricsOf(provider).recordFirstOutput(waitedMs),
    modelOutput: (provider) => metricsOf(provider).recordOutput(),
  };
}
