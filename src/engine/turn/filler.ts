import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { Tool } from '../../agents/tool.ts';
import { matchLanguage } from '../../base/values/languageCode.ts';
import { languageOf, say, type TurnContext } from './turnContext.ts';

/** The time after which a filler covers a running tool. */
const FILLER_AFTER_MS = 1_200;

type LinesByLanguage = Readonly<Record<string, readonly string[]>>;

/**
 * Waits for work, and says a filler when it takes long.
 *
 * @param lines - Lines that replace the agent's `placeholderMessages`.
 */
export async function withFiller<Result>(
  turn: TurnContext,
  work: Promise<Result>,
  lines?: Tool['speakWhile'],
): Promise<Result> {
  const filler = lines === undefined ? fillerOfTurn(turn) : lineOf(lines, turn);
  if (filler === undefined) return await work;
  let cancel = () => {};
  const late = new Promise<'late'>((resolve) => {
    const timer = turn.deps.clock.setTimer(() => resolve('late'), FILLER_AFTER_MS);
    cancel = () => timer.cancel();
  });
  const settled = work.then(
    () => 'settled' as const,
    () => 'settled' as const,
  );
  if ((await Promise.race([settled, late])) === 'late') await say(turn, 'filler', turn.render(filler));
  cancel();
  return await work;
}

/** Says one of the agent's `placeholderMessages`, where it has any. */
export async function sayFiller(turn: TurnContext): Promise<void> {
  const text = fillerOfTurn(turn);
  if (text !== undefined) await say(turn, 'filler', turn.render(text));
}

function fillerOfTurn(turn: TurnContext): string | undefined {
  return fillerOf(turn.release.agent, languageOf(turn), turn.session.turn);
}

function lineOf(lines: NonNullable<Tool['speakWhile']>, turn: TurnContext): string | undefined {
  if (typeof lines === 'string') return lines;
  const byLanguage = Object.entries(lines).map(([tag, line]) => [tag, [line]]);
  return inLanguage(Object.fromEntries(byLanguage), languageOf(turn), turn.session.turn);
}

/**
 * Returns one of the agent's `placeholderMessages`, a different one each turn: in the conversation's language where the
 * agent has it, else in the first language that it has.
 *
 * @returns A template; undefined where the agent has none.
 */
export function fillerOf(
  { placeholderMessages }: AgentConfig,
  language: string | undefined,
  turn: number,
): string | undefined {
  return placeholderMessages ? inLanguage(placeholderMessages, language, turn) : undefined;
}

function inLanguage(lines: LinesByLanguage, language: string | undefined, turn: number): string | undefined {
  const tags = Object.keys(lines).filter((tag) => lines[tag]?.length);
  const messages = lines[matchLanguage(language ?? 'en', tags) ?? tags[0] ?? ''];
  return messages?.[turn % messages.length];
}
