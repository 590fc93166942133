import { withTimeout } from '../../../base/async/withTimeout.ts';
import { isUnavailable } from '../../../base/errors.ts';
import { countryOf, normalizeNumber, readNumber } from '../../../base/values/e164.ts';
import type { CallFacts, Session } from '../../session/session.ts';
import { languageOf, renderInLanguage, type TurnContext } from '../../turn/turnContext.ts';
import type { OptOut } from '../callbacks.ts';
import { saysOptOut } from './optOutWords.ts';

/** The person hears nothing while the database is waited for. */
const LIST_TIMEOUT_MS = 1_500;

const CONFIRMATIONS: Readonly<Record<string, string>> = {
  en: 'I have taken your number off our list. We will not call you again. Goodbye.',
  zh: '好的，您的號碼已從名單移除，我們不會再打電話給您。再見。',
  es: 'He quitado su número de nuestra lista. No volveremos a llamarle. Adiós.',
  de: 'Ich habe Ihre Nummer von unserer Liste genommen. Wir rufen Sie nicht mehr an. Auf Wiederhören.',
  fr: 'J’ai retiré votre numéro de notre liste. Nous ne vous appellerons plus. Au revoir.',
  ja: 'お客様の番号をリストから削除しました。今後お電話はいたしません。失礼いたします。',
};

/** Returns the words of the turn that say that the person wants no more calls; undefined for none. */
export function optOutWords({
  request: { input, history },
  session,
  release,
}: TurnContext): string | undefined {
  if (!session.state.call || !(release.agent.optOut?.detect ?? true)) return undefined;
  const unanswered = (history ?? []).flatMap(({ role, content }) => (role === 'user' && content) || []);
  const isSaid = input.kind === 'unanswered_message' || (input.kind === 'user_message' && !input.isScreening);
  return [...unanswered, ...(isSaid ? [input.text] : [])].find(saysOptOut);
}

/**
 * Lists the person's number, and records it in the history. A hidden number, and that of a test, cannot be listed. While the
 * database is away, the number is listed with the turn, as soon as that is stored.
 */
export async function optOut(turn: TurnContext, source: OptOut['source'], reason?: string): Promise<void> {
  const { session, journal, request } = turn;
  // What a preemptive turn hears counts only once the person has finished speaking.
  await request.delivery?.commitment?.promise;
  const wish = optOutOf(session, source, reason);
  if (wish && !(await isListed(turn, wish))) journal.keepOptOut(wish);
  journal.event('opt_out', { source, reason });
}

/** Returns what is to be listed; undefined for a number that cannot be. */
export function optOutOf(
  { projectId, state: { call, test } }: Session,
  source: OptOut['source'],
  reason: string | undefined,
): OptOut | undefined {
  const number = call && numberOf(call);
  if (!call || number === undefined || test) return undefined;
  return { projectId, number, callId: call.callId, source, reason };
}

/** What the agent says before it ends the call. */
export function optOutConfirmation(turn: TurnContext): string {
  const template = turn.release.agent.optOut?.confirm;
  if (template !== undefined) return renderInLanguage(turn, template);
  const [language = ''] = (languageOf(turn) ?? '').split('-');
  return CONFIRMATIONS[language] ?? CONFIRMATIONS.en ?? '';
}

/** @throws What the database answers, unless it is away. */
async function isListed({ deps: { addOptOut, clock } }: TurnContext, wish: OptOut): Promise<boolean> {
  if (!addOptOut) return true;
  let isAdded = false;
  let failure: unknown;
  const adding = addOptOut(wish).then(
    () => {
      isAdded = true;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  await withTimeout(clock, adding, LIST_TIMEOUT_MS);
  if (failure !== undefined && !isUnavailable(failure)) throw failure;
  return isAdded;
}

/** Carriers may show a caller as the number is dialed in the country of the called one. */
function numberOf({ direction, fromNumber, toNumber }: CallFacts): string | undefined {
  if (direction === 'outbound') return normalizeNumber(toNumber);
  return normalizeNumber(fromNumber) ?? readNumber(fromNumber, countryOf(toNumber));
}
