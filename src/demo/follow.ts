import { setTimeout as delay } from 'node:timers/promises';
import type { CallTranscript } from './callTranscript.ts';
import { type History, historySchema } from './history.ts';
import type { Screen } from './screen.ts';
import type { DemoProject } from './setUp.ts';

export interface FollowDeps {
  readonly project: DemoProject;
  readonly sessionId: string;
  /** Returns the time since the call was requested. */
  readonly elapsedMs: () => number;
  readonly screen: Screen;
  readonly transcript: CallTranscript;
  /** Whether the last webhook has arrived. */
  readonly isFinalized: () => boolean;
  readonly signal: AbortSignal;
}

const POLL_MS = 150;
const STATUS_WORDS: Readonly<Record<string, string>> = {
  scheduled: 'scheduled',
  queued: 'queued',
  dialing: 'dialling',
  ringing: 'ringing',
  in_progress: 'answered',
};

/**
 * Shows the progress of a call by polling its history, until the last webhook.
 *
 * @throws The signal's reason.
 */
export async function followCall(deps: FollowDeps): Promise<History> {
  const { project, sessionId, screen, transcript } = deps;
  const path = `${project.path}/session-history/${encodeURIComponent(sessionId)}`;
  let status = '';
  for (;;) {
    const isLast = deps.isFinalized();
    const history = await project.api.request('GET', path, historySchema);
    const isOver = history.call.endReason !== null;
    // Messages come after the answer and before the end.
    if (isOver) transcript.update(history.messages);
    if (history.call.status !== status) {
      status = history.call.status;
      screen.line(deps.elapsedMs(), 'call', STATUS_WORDS[status] ?? endWords(history));
    }
    transcript.update(history.messages);
    if (isLast) return history;
    await delay(POLL_MS, undefined, { signal: deps.signal }).catch(() => deps.signal.throwIfAborted());
  }
}

/** Returns how a call ended, for the user. */
export function endWords({ call }: History): string {
  const { status, endReason, sip } = call;
  const how = `${status}${endReason === null ? '' : `, ${endReason}`}`.replaceAll('_', ' ');
  return status === 'completed' || sip === null ? how : `${how} (SIP ${sip.code} ${sip.reason})`;
}
