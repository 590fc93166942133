import type { SessionCost } from '../../agents/cost/rates.ts';
import type { Amounts, SessionUsage } from '../../agents/cost/usage.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { ReleaseName } from '../../base/values/releaseName.ts';
import type { Channel, HistoryEvent, SessionMessage } from '../session/session.ts';
import type { Review } from './review.ts';
import type { SessionFilter } from './sessionFilter.ts';
import type { Analysis, Evaluation } from './sessionResults.ts';

export interface HistoryFilter extends SessionFilter {
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
  /** Text to find in the messages. */
  readonly q?: string;
  /** Whether sessions of tests are listed too. Default: no. */
  readonly includeTests?: boolean;
}

export interface HistorySummary {
  readonly sessionId: string;
  readonly channel: Channel;
  readonly release: ReleaseName;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly messageCount: number;
  readonly callId?: string;
  /** Null before the end, and where there were no rates. */
  readonly cost: SessionCost | null;
  /** What its analysis says; null where that says nothing, or there is none. */
  readonly disposition: string | null;
  readonly success: boolean | null;
  /** Played by a test. */
  readonly test?: true;
}

export interface SessionSpending {
  readonly usage: SessionUsage;
  readonly cost: SessionCost | null;
}

export interface HistoryDetail extends Omit<HistorySummary, 'messageCount' | 'durationMs'> {
  readonly variables: unknown;
  readonly messages: readonly SessionMessage[];
  readonly events: readonly HistoryEvent[];
  /** Required variables without a value; once the session has ended. */
  readonly missingVariables?: readonly string[];
  readonly evaluation?: Evaluation | undefined;
  readonly analysis?: Analysis | undefined;
  /** What a person says of it. */
  readonly review?: Review | undefined;
  readonly usage: SessionUsage;
}

export interface HistoryStats {
  readonly total: number;
  readonly byChannel: Readonly<Record<string, number>>;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byDay: readonly { readonly day: string; readonly sessions: number }[];
  readonly durationMs: { readonly mean: number | null; readonly p95: number | null };
  readonly turns: number;
  readonly turnLatencyMs: { readonly p50: number | null; readonly p95: number | null };
  /** The ended calls among the same sessions. */
  readonly calls: {
    readonly total: number;
    readonly answered: number;
    /** 0 to 1; null without calls. */
    readonly answerRate: number | null;
    readonly turnLatencyMs: { readonly p50: number | null; readonly p95: number | null };
  };
}

export interface HeardSpeech {
  /** The seconds with voice; pauses do not count. */
  readonly voicedSeconds: number;
  /** The sum of those below. */
  readonly utterances: number;
  readonly withWords: number;
  readonly withoutWords: number;
  /** Too short to be speech, or not to be transcribed. */
  readonly dropped: number;
  /** The number of utterances whose transcripts failed, or did not come in time. */
  readonly late: number;
}

/** Reads the history of sessions. A project that stores no history shows none. */
export interface HistoryStore {
  list(projectId: string, filter: HistoryFilter, page: Page): Promise<PageOf<HistorySummary>>;
  /** The newest session with this id. */
  find(projectId: string, sessionId: string): Promise<HistoryDetail | undefined>;
  /** Finds one of several sessions that have had the same id. */
  findInstance(projectId: string, instanceId: string): Promise<HistoryDetail | undefined>;
  /** Whether a live or ended session is still to be analyzed, before it is finalized. */
  awaitsAnalysis(session: {
    readonly projectId: string;
    readonly sessionId: string;
    readonly instanceId: string;
  }): Promise<boolean>;
  /** Finds the analyses of calls, by call id. */
  analyses(projectId: string, callIds: readonly string[]): Promise<Map<string, Analysis>>;
  stats(projectId: string, range: { from?: string; to?: string }): Promise<HistoryStats>;
  /** Adds to the history of a live or ended session. */
  addEvents(instanceId: string, events: readonly HistoryEvent[]): Promise<void>;
  /** Adds messages after all others of a live or ended session. */
  addMessages(instanceId: string, messages: readonly SessionMessage[]): Promise<void>;
  /** Adds to what a live or ended session has heard, which its event `session_ended` tells. */
  addHeard(instanceId: string, heard: HeardSpeech): Promise<void>;
  /** What sessions have used and cost, by instance. */
  spendings(instanceIds: readonly string[]): Promise<ReadonlyMap<string, SessionSpending>>;
  /** Prices an ended session by the rates at its end, with its call as far as that is known. May be repeated. */
  updateCost(instanceId: string): Promise<void>;
  /** Adds to what a live or ended session has used; the cost of an ended one follows. */
  addUsage(instanceId: string, used: Amounts): Promise<void>;
}
