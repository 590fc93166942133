import { normalizeNumber } from '../../base/values/e164.ts';
import type { CallFacts } from '../session/session.ts';
import { languageOf, type TurnContext } from '../turn/turnContext.ts';
import type { OptOut } from './callbacks.ts';
import { saysOptOut } from './optOutWords.ts';

const CONFIRMATIONS: Readonly<Record<string, string>> = {
  en: 'I have taken your number off our list. We will not call you again. Goodbye.',
  zh: '好的，您的號碼已從名單移除，我們不會再打電話給您。再見。',
  es: 'He quitado su número de nuestra lista. No volveremos a llamarle. Adiós.',
  de: 'Ich habe Ihre Nummer von unserer Liste genommen. Wir rufen Sie nicht mehr an. Auf Wiederhören.',
  fr: 'J’ai retiré votre numéro de notre liste. Nous ne vous appellerons plus. Au revoir.',
  ja: 'お客様の番号をリストから削除しました。今後お電話はいたしません。失礼いたします。',
};

/** Tells whether the turn's input says that the person wants no more calls. */
export function wantsNoCalls({ request: { input }, session, release }: TurnContext): boolean {
  if (!session.state.call || input.kind !== 'user_message' || input.isScreening) return false;
  return (release.agent.optOut?.detect ?? true) && saysOptOut(input.text);
}

/** Lists the person's number, and records it in the history. A hidden number, and that of a test, cannot be listed. */
export async function optOut(turn: TurnContext, source: OptOut['source'], reason?: string): Promise<void> {
  const { session, journal, deps, request } = turn;
  const { projectId, state } = session;
  // What a preemptive turn hears counts only once the person has finished speaking.
  await request.delivery?.commitment?.promise;
  const number = state.call && numberOf(state.call);
  if (state.call && number !== undefined && !state.test)
    await deps.addOptOut?.({ projectId, number, callId: state.call.callId, source, reason });
  journal.event('opt_out', { source, ...(reason === undefined ? {} : { reason }) });
}

/** What the agent says before it ends the call. */
export function optOutConfirmation(turn: TurnContext): string {
  const template = turn.release.agent.optOut?.confirm;
  if (template !== undefined) return turn.render(template);
  const [language = ''] = (languageOf(turn) ?? '').split('-');
  return CONFIRMATIONS[language] ?? CONFIRMATIONS.en ?? '';
}

function numberOf({ direction, fromNumber, toNumber }: CallFacts): string | undefined {
  return normalizeNumber(direction === 'inbound' ? fromNumber : toNumber);
}
