import { CallwayError } from '../../base/errors.ts';
import { normalizeNumber } from '../../base/values/e164.ts';
import { localMoment } from '../../base/values/localDate.ts';
import { instantsOf, parseLocalTime } from '../../base/values/localTime.ts';
import { timeZonesOfNumber } from '../../base/values/numberTimeZones.ts';
import { withoutFacts } from '../session/sessionFacts.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import type { ToolOutcome } from './toolRunner.ts';

export interface CallbackArguments {
  readonly atLocalTime: string;
  readonly reason: string | null;
}

/** The time that was asked for, or why there is no such time. */
type Wanted = { readonly atMs: number } | { readonly problem: string };

/** Schedules a call back to the person, at a time of their clocks. The result tells the model what to say. */
export async function scheduleCallback(
  turn: TurnContext,
  { atLocalTime, reason }: CallbackArguments,
): Promise<ToolOutcome> {
  const { deps, session, journal, release } = turn;
  const { call } = session.state;
  if (!deps.scheduleCallback || !call)
    return refused('This is no phone call; ask for another way to reach them');
  const number = normalizeNumber(call.direction === 'inbound' ? call.fromNumber : call.toNumber);
  if (number === undefined)
    return refused('The person’s number is hidden; ask for another way to reach them');
  const localMs = parseLocalTime(atLocalTime);
  if (localMs === undefined) {
    return refused('atLocalTime must be a date and a time of day such as 2026-11-24T15:00, without a zone');
  }
  const timeZone = zoneOf(number, localMs, release.agent.timezone);
  const nowMs = deps.clock.now();
  const wanted = wantedTime(localMs, timeZone, nowMs);
  if ('problem' in wanted) return refused(`${wanted.problem}; there it is ${localMoment(timeZone, nowMs)}`);
  // What a preemptive turn orders counts only once the person has finished speaking.
  await turn.request.delivery?.commitment?.promise;
  try {
    const { projectId, sessionId } = session;
    const asked = new Date(wanted.atMs).toISOString();
    const variables = withoutFacts(journal.variables);
    const order = { projectId, sessionId, call, variables, notBefore: asked, reason };
    const notBefore = await deps.scheduleCallback(order);
    const why = notBefore === asked ? '' : 'No calls are placed at the time that was asked for. ';
    const text = `${why}Scheduled for ${localMoment(timeZone, Date.parse(notBefore))}. Confirm the day and the time.`;
    return { ok: true, text, value: { notBefore, timeZone } };
  } catch (error) {
    if (!(error instanceof CallwayError)) throw error;
    return refused(`It cannot be scheduled: ${error.message}`);
  }
}

function wantedTime(localMs: number, timeZone: string, nowMs: number): Wanted {
  // Of a time that comes twice, the first.
  const [atMs] = instantsOf(localMs, timeZone);
  if (atMs === undefined) {
    return { problem: `This time does not exist in ${timeZone}: the clocks are put forward then` };
  }
  return atMs > nowMs ? { atMs } : { problem: 'This time has passed' };
}

/**
 * The time zone of the person: their number's where all of its clocks agree, else the agent's.
 *
 * @param localMs - The time that is asked about. @see parseLocalTime
 */
function zoneOf(number: string, localMs: number, ofAgent: string | null): string {
  const zones = timeZonesOfNumber(number);
  const times = new Set(zones.map((zone) => instantsOf(localMs, zone).join()));
  const [first] = zones;
  return first !== undefined && times.size === 1 ? first : (ofAgent ?? 'UTC');
}

function refused(text: string): ToolOutcome {
  return { ok: false, text };
}
