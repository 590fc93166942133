import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { TurnOutput } from './turn.ts';
import type { TurnContext } from './turnContext.ts';

/** A tool that takes longer is covered by words. */
export const PLACEHOLDER_AFTER_MILLISECONDS = 1_200;

/** Waits for work, and says one of the agent's placeholder messages when it takes long. */
export async function* withPlaceholder<Result>(
  run: TurnContext,
  work: Promise<Result>,
): AsyncGenerator<TurnOutput, Result> {
  if (placeholderFor(run) === undefined) return await work;
  let cancel = () => {};
  const late = new Promise<'late'>((resolve) => {
    const timer = run.deps.clock.setTimer(() => resolve('late'), PLACEHOLDER_AFTER_MILLISECONDS);
    cancel = () => timer.cancel();
  });
  const settled = work.then(
    () => 'settled' as const,
    () => 'settled' as const,
  );
  if ((await Promise.race([settled, late])) === 'late') yield* sayPlaceholder(run);
  cancel();
  return await work;
}

/** Says one of the agent's placeholder messages, where it has any. */
export async function* sayPlaceholder(run: TurnContext): AsyncGenerator<TurnOutput, void> {
  const text = placeholderFor(run);
  if (text === undefined) return;
  const said = run.journal.said();
  const words = `${said !== '' && !/\s$/.test(said) ? '\n' : ''}${text}`;
  run.journal.say(words);
  yield { type: 'placeholder', text: words };
}

function placeholderFor({ release, journal, session }: TurnContext): string | undefined {
  return placeholderOf(release.agent, journal.variables, session.turn);
}

/**
 * One of the agent's placeholder messages, another with each turn.
 *
 * In the session's language where the agent has words for it (`variables.language`), else the first that it has.
 *
 * @returns Undefined where the agent has none.
 */
export function placeholderOf(
  { placeholderMessages }: Pick<AgentConfig, 'placeholderMessages'>,
  variables: Readonly<Record<string, unknown>>,
  turn: number,
): string | undefined {
  if (!placeholderMessages) return undefined;
  const language = typeof variables.language === 'string' ? variables.language.toLowerCase() : 'en';
  const entries = Object.entries(placeholderMessages).filter(([, messages]) => messages.length > 0);
  const matches = (tag: string) =>
    tag.toLowerCase() === language || tag.toLowerCase() === language.split('-')[0];
  const [, messages] = entries.find(([tag]) => matches(tag)) ?? entries[0] ?? [];
  return messages?.[turn % messages.length];
}
