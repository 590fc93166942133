import type { SpokenTurn } from '../../conversation/turns/turnLatency.ts';
import type { KeyOwner, ModelKind } from '../../models/ports/metrics.ts';
import type { ModelErrorCode } from '../../models/ports/modelError.ts';
import type { SessionMetrics } from '../../observability/metrics/sessions.ts';
import type { UtteranceResult } from '../../voice/recognition/heardSpeech.ts';

/** What a voice thread reports to the main thread, which has the log, the metrics and the webhooks of the node. */
export type ThreadReport =
  /** A formatted line of the log. */
  | { readonly kind: 'log'; readonly line: string }
  /** A session has ended, and its webhooks are due. */
  | { readonly kind: 'session_ended' }
  | { readonly kind: 'turn'; readonly turn: SpokenTurn }
  | { readonly kind: 'utterance'; readonly result: UtteranceResult }
  | ({ readonly kind: 'model_error'; readonly code: ModelErrorCode; readonly message: string } & Provider)
  | ({ readonly kind: 'model_first_output'; readonly waitedMs: number } & Provider)
  | ({ readonly kind: 'model_output' } & Provider);

interface Provider {
  readonly model: ModelKind;
  readonly provider: string;
  readonly owner: KeyOwner;
}

type ThreadMetrics = Pick<SessionMetrics, 'turn' | 'utterance' | 'providerMetrics'>;

/** Metrics of a voice thread: counted in the main thread, so that they outlive the thread. */
export function reportedMetrics(report: (report: ThreadReport) => void): ThreadMetrics {
  return {
    turn: (turn) => report({ kind: 'turn', turn }),
    utterance: (result) => report({ kind: 'utterance', result }),
    providerMetrics(model, provider, owner = 'installation') {
      const named = { model, provider, owner };
      return {
        recordError: ({ code, message }) => report({ kind: 'model_error', code, message, ...named }),
        recordFirstOutput: (waitedMs) => report({ kind: 'model_first_output', waitedMs, ...named }),
        recordOutput: () => report({ kind: 'model_output', ...named }),
      };
    },
  };
}

export interface ReportReceiver {
  readonly metrics: ThreadMetrics;
  readonly writeLine: (line: string) => void;
  readonly onSessionEnded: () => void;
}

/** The main thread's side. */
export function receiveReport(
  { metrics, writeLine, onSessionEnded }: ReportReceiver,
  report: ThreadReport,
): void {
  switch (report.kind) {
    case 'log':
      writeLine(report.line);
      break;
    case 'session_ended':
      onSessionEnded();
      break;
    case 'turn':
      metrics.turn(report.turn);
      break;
    case 'utterance':
      metrics.utterance(report.result);
      break;
    case 'model_error':
      metricsOf(metrics, report).recordError(report);
      break;
    case 'model_first_output':
      metricsOf(metrics, report).recordFirstOutput(report.waitedMs);
      break;
    case 'model_output':
      metricsOf(metrics, report).recordOutput();
      break;
    default:
      report satisfies never;
  }
}

function metricsOf({ providerMetrics }: ThreadMetrics, { model, provider, owner }: Provider) {
  return providerMetrics(model, provider, owner);
}
