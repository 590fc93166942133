import { delay } from '../base/delay.ts';
import { type History, type HistoryMessage, historySchema } from './history.ts';
import type { Screen, Who } from './screen.ts';
import type { DemoProject } from './setUp.ts';

export interface FollowDeps {
  readonly project: DemoProject;
  readonly sessionId: string;
  /** Since the call was asked for. */
  readonly elapsedMs: () => number;
  readonly screen: Pick<Screen, 'line'>;
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
  const { project, sessionId, screen } = deps;
  const tell = (who: Who, text: string) => screen.line(deps.elapsedMs(), who, text);
  let status = '';
  let shown = 0;
  for (;;) {
    const isLast = deps.isFinalized();
    const history = await project.api.request(
      'GET',
      `${project.path}/session-history/${encodeURIComponent(sessionId)}`,
      historySchema,
    );
    const inOrder = () => {
      for (const message of history.messages.slice(shown)) tellMessage(message, tell);
      shown = history.messages.length;
    };
    // What was said came before the end, and after the answer.
    if (history.call.endReason !== null) inOrder();
    if (history.call.status !== status) {
      status = history.call.status;
      tell('call', STATUS_WORDS[status] ?? endWords(history));
    }
    inOrder();
    if (isLast) return history;
    await delay(POLL_MS, { signal: deps.signal, keepAlive: true });
  }
}

function tellMessage(message: HistoryMessage, tell: (who: Who, text: string) => void): void {
  const { role, content, latencyMs, interrupted } = message;
  if (role === 'tool' || content === null) return;
  if (role === 'user') {
    tell('heard', `“${content}”`);
    return;
  }
  const notes = [
    ...(latencyMs === undefined ? [] : [`after ${Math.round(latencyMs)} ms`]),
    ...(interrupted ? ['the callee cut in'] : []),
  ];
  tell('agent', notes.length > 0 ? `${content}  (${notes.join(', ')})` : content);
}

/** How a call that is over ended, for a person. */
export function endWords({ call }: Pick<History, 'call'>): string {
  const { status, endReason, sip } = call;
  const how = `${status}${endReason === null ? '' : `, ${endReason}`}`.replaceAll('_', ' ');
  return status === 'completed' || sip === null ? how : `${how} (SIP ${sip.code} ${sip.reason})`;
}
