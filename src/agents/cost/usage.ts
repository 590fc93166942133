import { z } from 'zod';

/** Longer names of models are cut: an endpoint names its own. */
const MAX_NAME_CHARACTERS = 200;
const AFTERWARDS = 'afterwards/';

/**
 * What a session has used, as sums by name: a kind, and what it was used of, such as `inputTokens/gpt-x` or
 * `recognitionMs/deepgram/nova-3`. Amounts are whole numbers.
 */
export type Amounts = Readonly<Record<string, number>>;

const tokens = z.int().min(0);
const tokenFields = {
  inputTokens: tokens.describe('Cached ones included.'),
  outputTokens: tokens,
  cachedInputTokens: tokens.describe('The part of `inputTokens` that the endpoint had cached.'),
};
export const modelUsage = z.object({
  model: z
    .string()
    .describe('The model that answered, by its own name. It has no tokens where its endpoint tells none.'),
  ...tokenFields,
});
export type ModelUsage = z.infer<typeof modelUsage>;

const speech = { provider: z.string(), model: z.string().optional().describe('Absent for the default.') };

export const sessionUsage = z
  .object({
    ...tokenFields,
    recognitionSeconds: z.number().describe('Audio that recognizers heard, silence included.'),
    synthesisCharacters: z.int().describe('Characters that were synthesized; cached phrases are not.'),
    callSeconds: z
      .number()
      .describe('Talk time of all legs of the call: its own, transfer targets and participants.'),
    chat: z.array(modelUsage).describe('The tokens by model; also of speech-to-speech models.'),
    recognition: z.array(z.object({ ...speech, seconds: z.number() })),
    synthesis: z.array(z.object({ ...speech, characters: z.int() })),
    afterwards: z
      .object({ ...tokenFields, chat: z.array(modelUsage) })
      .describe('What the models took after the session: evaluation, analysis and memory.'),
  })
  .meta({
    id: 'SessionUsage',
    description:
      'What a session used, as far as the vendors report it; the other token counts have no `afterwards`.',
  });
export type SessionUsage = z.infer<typeof sessionUsage>;

/** The tokens of one answer, as its endpoint reports them. */
interface ReportedTokens {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly cachedTokens?: number | undefined;
}

export function chatAmounts(
  model: string,
  { promptTokens = 0, completionTokens = 0, cachedTokens = 0 }: ReportedTokens,
): Amounts {
  const name = model.slice(0, MAX_NAME_CHARACTERS);
  return {
    [`inputTokens/${name}`]: promptTokens,
    [`outputTokens/${name}`]: completionTokens,
    [`cachedInputTokens/${name}`]: Math.min(cachedTokens, promptTokens),
  };
}

export function speechAmounts(
  kind: 'recognitionMs' | 'synthesisCharacters',
  provider: string,
  model: string | undefined,
  amount: number,
): Amounts {
  return { [`${kind}/${provider}${model === undefined ? '' : `/${model}`}`]: amount };
}

/** Names what was used after the session. @param amounts - The tokens of {@link chatAmounts}. */
export function afterwards(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [AFTERWARDS + name, amount]));
}

export function sumOf(one: Amounts, other: Amounts): Amounts {
  if (isNone(other)) return one;
  const sum: Record<string, number> = { ...one };
  for (const [name, amount] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + amount;
  return sum;
}

export function isNone(amounts: Amounts): boolean {
  return Object.keys(amounts).length === 0;
}

/** Adds up what a session uses until it is stored. */
export class UsageTally {
  #amounts: Amounts = {};

  add(amounts: Amounts): void {
    this.#amounts = sumOf(this.#amounts, amounts);
  }

  /** Returns what was added since the last time. */
  take(): Amounts {
    const taken = this.#amounts;
    this.#amounts = {};
    return taken;
  }
}

export function toSessionUsage(amounts: Amounts): SessionUsage {
  const after: Record<string, number> = {};
  const during: Record<string, number> = {};
  for (const [name, amount] of Object.entries(amounts)) {
    if (name.startsWith(AFTERWARDS)) after[name.slice(AFTERWARDS.length)] = amount;
    else during[name] = amount;
  }
  const recognition = namesOf(during, 'recognitionMs').map(([name, ms]) => ({
    ...providerOf(name),
    seconds: ms / 1000,
  }));
  const synthesis = namesOf(during, 'synthesisCharacters').map(([name, characters]) => ({
    ...providerOf(name),
    characters,
  }));
  const recognitionMs = namesOf(during, 'recognitionMs').reduce((sum, [, ms]) => sum + ms, 0);
  return {
    ...tokensOf(during),
    recognitionSeconds: recognitionMs / 1000,
    synthesisCharacters: synthesis.reduce((sum, { characters }) => sum + characters, 0),
    callSeconds: (during.callMs ?? 0) / 1000,
    recognition,
    synthesis,
    afterwards: tokensOf(after),
  };
}

/** The tokens by model. */
export function modelUsages(amounts: Amounts): ModelUsage[] {
  return namesOf(amounts, 'inputTokens').map(([model, inputTokens]) => ({
    model,
    inputTokens,
    outputTokens: amounts[`outputTokens/${model}`] ?? 0,
    cachedInputTokens: amounts[`cachedInputTokens/${model}`] ?? 0,
  }));
}

function tokensOf(amounts: Amounts) {
  const chat = modelUsages(amounts);
  const sum = (kind: 'inputTokens' | 'outputTokens' | 'cachedInputTokens') =>
    chat.reduce((total, one) => total + one[kind], 0);
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    chat,
  };
}

function namesOf(amounts: Amounts, kind: string): (readonly [name: string, amount: number])[] {
  return Object.entries(amounts)
    .filter(([name]) => name.startsWith(`${kind}/`))
    .map(([name, amount]) => [name.slice(kind.length + 1), amount] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function providerOf(name: string): { readonly provider: string; readonly model?: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { provider: name } : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}
