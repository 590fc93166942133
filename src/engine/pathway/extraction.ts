import { templateNames } from '../../agents/pathway/namedVariables.ts';
import { askForVariables, questionAt } from '../prompt/questions.ts';
import type { TurnInput } from '../turn/turn.ts';
import { speakingModelAt, type TurnContext } from '../turn/turnContext.ts';
import type { TurnMachineEffect } from './turnMachineState.ts';

/** The customer's words are still being transcribed. */
type LateInput = Extract<TurnInput, { readonly kind: 'user_message' }> & { readonly late: Promise<string> };

/** Extracts the agent's variables from what the customer says, once it is known. Never rejects. */
export function extractFromInput(turn: TurnContext): Promise<void> {
  const { input } = turn.request;
  return isLate(input)
    ? completeWords(turn, input).then(() => extractVariables(turn))
    : extractVariables(turn);
}

/** Extracts the agent's variables from the customer's words. A failure leaves them unset and is recorded. */
export async function extractVariables(turn: TurnContext): Promise<void> {
  const { release, request, session, graph, journal, signal } = turn;
  const configs = release.agent.variableConfigs;
  if (request.input.kind !== 'user_message' || !configs || configs.length === 0) return;
  const { currentNodeId } = session.state;
  const node = currentNodeId === null ? graph.start : graph.node(currentNodeId);
  try {
    const found = await askForVariables(questionAt(turn, node), configs);
    for (const [name, value] of found) journal.setVariable(name, value, 'extracted');
  } catch (error) {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : '';
    journal.event('error', { code: 'extraction_failed', message });
  }
}

/** Whether an effect waits for what is found in the customer's words. */
export function readsInput(turn: TurnContext, effect: TurnMachineEffect): boolean {
  return readsExtracted(turn, effect) || needsWords(turn, effect);
}

/** Whether an effect renders a variable that is still being extracted. */
function readsExtracted(turn: TurnContext, { type, node }: TurnMachineEffect): boolean {
  const extracted = extractedNames(turn);
  return type !== 'enter' && extracted.size > 0 && templateNames(node).some((name) => extracted.has(name));
}

/** Whether an effect reads the customer's words, which are still being transcribed. */
function needsWords(turn: TurnContext, { type, node }: TurnMachineEffect): boolean {
  if (!isLate(turn.request.input) || type === 'enter') return false;
  return type !== 'speak' || node.type === 'knowledge' || speakingModelAt(turn, node) === undefined;
}

export function isLate(input: TurnInput): input is LateInput {
  return input.kind === 'user_message' && input.late !== undefined;
}

/** The variables that the turn extracts from the customer's words. */
export function extractedNames({ release, request }: TurnContext): ReadonlySet<string> {
  const configs = request.input.kind === 'user_message' ? release.agent.variableConfigs : null;
  return new Set((configs ?? []).map(({ name }) => name));
}

/** Waits for words that are still being transcribed, and takes them into the conversation. */
async function completeWords({ journal, events, signal }: TurnContext, input: LateInput): Promise<void> {
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    if (signal.aborted) resolve(undefined);
  });
  const text = (await Promise.race([input.late, aborted])) ?? input.text;
  journal.completeInput(input.text, text);
  events.heard({ ...input, text });
}
