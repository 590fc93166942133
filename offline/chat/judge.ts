import { extractVariables } from './extract.ts';
import type { Criterion, JsonObject, Message, Situation } from './request.ts';
import { simplestValue, takes } from './simplestValue.ts';
import { summarizeByRules } from './summarize.ts';
import { countSharedTerms, isNegated, isSameTerm, type Term, termsOf } from './terms.ts';
import { propertiesOf, recordOf } from './toolCalls.ts';

/** A criterion is met when the conversation has this share of its terms. */
const MIN_SHARE = 0.5;
/** The newest messages of the person that data are looked for in, since the rules run synchronously. */
const MAX_SEARCHED = 30;

export interface Verdict {
  readonly name: string;
  readonly passed: boolean;
  readonly reason: string;
}

/** What a judge was asked for. */
export interface Judgement {
  readonly results?: readonly Verdict[] | undefined;
  readonly scores?:
    | readonly { readonly name: string; readonly score: number; readonly reason: string }[]
    | undefined;
  readonly summary?: string | undefined;
  readonly disposition?: string | null | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Judges a conversation by the terms of the criteria; each reason says so. */
export function judgeByRules(
  { criteria, scored, dispositions, data, wantsSummary = false, today }: Situation,
  messages: readonly Message[],
): Judgement {
  const talk = messages
    .flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? [content ?? ''] : []))
    .join('\n');
  const spoken = termsOf(talk);
  return {
    results: criteria?.map((criterion) => {
      const { share, reason } = termsIn(criterion, spoken);
      const isMissed = isNegated(criterion.description);
      const passed = isMissed ? share < MIN_SHARE : share >= MIN_SHARE;
      return { name: criterion.name, passed, reason: `judged by rule: ${reason}` };
    }),
    scores: scored?.map((criterion) => {
      const { share, reason } = termsIn(criterion, spoken);
      return { name: criterion.name, score: 1 + Math.round(4 * share), reason: `scored by rule: ${reason}` };
    }),
    summary: wantsSummary ? summarizeByRules(messages) : undefined,
    disposition: dispositions && likeliest(dispositions, spoken),
    data: data && dataIn(data, messages, today),
  };
}

/** The share of a criterion's terms that the talk has. */
function termsIn({ name, description }: Criterion, spoken: readonly Term[]) {
  const sought = termsOf(description || name);
  const found = sought.filter(({ word }) => spoken.some((other) => isSameTerm(other.word, word)));
  const list = found.length === 0 ? 'none' : found.map(({ word }) => word).join(', ');
  return {
    share: sought.length === 0 ? 0 : countSharedTerms(sought, spoken) / sought.length,
    reason: `of ${sought.length} words sought, the talk has ${found.length} (${list})`,
  };
}

/** The disposition with most of its terms in the talk; null where none has enough of them. */
function likeliest(dispositions: readonly Criterion[], spoken: readonly Term[]): string | null {
  const shares = dispositions.map((one) => ({ name: one.name, share: termsIn(one, spoken).share }));
  const [best] = shares.toSorted((one, other) => other.share - one.share);
  return best && best.share >= MIN_SHARE ? best.name : null;
}

/** What the person said last of each property, as far as its schema takes that; of others the simplest value. */
function dataIn(
  schema: JsonObject,
  messages: readonly Message[],
  today: string | undefined,
): Record<string, unknown> {
  const found: Record<string, unknown> = { ...recordOf(simplestValue(schema)) };
  const properties = recordOf(schema.properties);
  const wanted = [...propertiesOf(schema).values()];
  const said = messages.flatMap(({ role, content }, index) =>
    role === 'user' && content ? [{ text: content, asked: messages[index - 1]?.content ?? '' }] : [],
  );
  for (const { text, asked } of said.slice(-MAX_SEARCHED)) {
    const values = Object.entries(extractVariables(wanted, { text, asked, today }));
    for (const [name, value] of values)
      if (value !== null && takes(properties[name], value, schema)) found[name] = value;
  }
  return found;
}
