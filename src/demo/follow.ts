import { setTimeout as delay } from 'node:timers/promises';
import { type History, historySchema } from './history.ts';
import type { Screen } from './screen.ts';
import type { DemoProject } from './setUp.ts';
import type { TalkLines } from './talkLines.ts';

export interface FollowDeps {
  readonly project: DemoProject;
  readonly sessionId: string;
  /** Since the call was asked for. */
  readonly elapsedMs: () => number;
  readonly screen: Pick<Screen, 'line'>;
  readonly talk: Pick<TalkLines, 'kept'>;
  /** Whether the last webhook came. */
  readonly isFinalized: () => boolean;
  readonly signal: AbortSignal;
}

const POLL_MS = 150;
const STATUS_WORDS: Readonly<Record<string, string>> = {
  queued: 'in the queue',
  dialing: 'dialling',
  ringing: 'ringing',
  in_progress: 'answered',
};

/**
 * Shows the call as it goes, by its history, until everything about it is done.
 *
 * @throws The signal's reason.
 */
export async function followCall(deps: FollowDeps): Promise<History> {
  const { project, sessionId, screen, talk } = deps;
  const path = `${project.path}/session-history/${encodeURIComponent(sessionId)}`;
  let status = '';
  for (;;) {
    const isLast = deps.isFinalized();
    const history = await project.api.request('GET', path, historySchema);
    const isOver = history.call.endReason !== null;
    // What was said came after the answer, and before the end.
    if (isOver) talk.kept(history.messages);
    if (history.call.status !== status) {
      status = history.call.status;
      screen.line(deps.elapsedMs(), 'call', STATUS_WORDS[status] ?? endWords(history));
    }
    talk.kept(history.messages);
    if (isLast) return history;
    await delay(POLL_MS, undefined, { signal: deps.signal }).catch(() => deps.signal.throwIfAborted());
  }
}

/** How a call that is over ended, for a person. */
export function endWords({ call }: Pick<History, 'call'>): string {
  const { status, endReason, sip } = call;
  const how = `${status}${endReason === null ? '' : `, ${endReason}`}`.replaceAll('_', ' ');
  return status === 'completed' || sip === null ? how : `${how} (SIP ${sip.code} ${sip.reason})`;
}
