import type { ChatCompletionMessageParam } from 'openai/resources';
import type { ChatBody } from './chatBody.ts';

/** What not every compatible endpoint takes, and how to do without it. */
interface Concession {
  readonly name: 'usage' | 'jsonSchema' | 'laterSystem';
  /** What an endpoint's refusal mentions when this is what it did not like. */
  readonly complaint: RegExp;
  isIn(body: ChatBody): boolean;
  without(body: ChatBody): ChatBody;
}

const CONCESSIONS: readonly Concession[] = [
  {
    name: 'usage',
    complaint: /stream_options|include_usage/,
    isIn: (body) => body.stream_options !== undefined,
    without({ stream_options: _, ...body }) {
      return body;
    },
  },
  {
    name: 'jsonSchema',
    complaint: /response_format|json_schema/,
    isIn: ({ response_format: format }) => format?.type === 'json_schema',
    without: (body) => ({
      ...body,
      messages: [...body.messages, ...schemaInWords(body)],
      response_format: { type: 'json_object' },
    }),
  },
  {
    // Chat templates of several open models know a system message at the beginning only.
    name: 'laterSystem',
    complaint: /system|\broles?\b/i,
    isIn: ({ messages }) => messages.some(isLaterSystem),
    without: (body) => ({ ...body, messages: foldSystem(body.messages) }),
  },
];

/** What one endpoint is asked, less what it was found not to take. */
export interface Concessions {
  /** Leaves out what the endpoint is known not to take. */
  apply(body: ChatBody): ChatBody;
  /**
   * After a refusal: what else to try.
   *
   * @param complaint - The endpoint's own words.
   * @returns Undefined when nothing in the body is known to be the cause, or likely to be.
   */
  concede(body: ChatBody, complaint: string): { readonly body: ChatBody; readonly name: string } | undefined;
  /** The endpoint took this body: what it holds is taken, and what was conceded for it stays conceded. */
  remember(body: ChatBody, conceded: ReadonlySet<string>): void;
}

/**
 * Compatible endpoints differ in which newer fields they take, and some refuse a request for one that they do not
 * know. A field that a refusal names is left out; when the refusal names none of them, one that was never taken yet
 * is. What was learnt holds for the life of the instance.
 */
export function createConcessions(): Concessions {
  const refused = new Set<string>();
  const taken = new Set<string>();
  return {
    apply: (body) =>
      CONCESSIONS.filter(({ name, isIn }) => refused.has(name) && isIn(body)).reduce(
        (conceded, concession) => concession.without(conceded),
        body,
      ),
    concede(body, complaint) {
      const present = CONCESSIONS.filter(({ isIn }) => isIn(body));
      const concession =
        present.find((candidate) => candidate.complaint.test(complaint)) ??
        present.find(({ name }) => !taken.has(name));
      return concession && { body: concession.without(body), name: concession.name };
    },
    remember(body, conceded) {
      for (const name of conceded) refused.add(name);
      for (const { name, isIn } of CONCESSIONS) if (isIn(body)) taken.add(name);
    },
  };
}

/** Plain JSON mode does not tell the model which keys are wanted. */
function schemaInWords({ response_format: format }: ChatBody): ChatCompletionMessageParam[] {
  if (format?.type !== 'json_schema' || !format.json_schema.schema) return [];
  const content = `Answer with JSON of this schema: ${JSON.stringify(format.json_schema.schema)}`;
  return [{ role: 'system', content }];
}

function isLaterSystem({ role }: ChatCompletionMessageParam, index: number): boolean {
  return role === 'system' && index > 0;
}

/** All that the system says goes to the beginning; what it asks at the end, the user asks. */
function foldSystem(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'system');
  const talk = messages.slice(0, lastOther + 1);
  const question = messages.slice(Math.max(1, lastOther + 1)).map(textOf);
  const rules = messages.slice(0, Math.max(1, lastOther)).filter(({ role }) => role === 'system');
  const others = talk.filter(({ role }) => role !== 'system');
  const last = others.at(-1);
  const asked = last?.role === 'user' ? [textOf(last), ...question] : question;
  const before = last?.role === 'user' ? others.slice(0, -1) : others;
  return [
    { role: 'system', content: rules.map(textOf).join('\n\n') },
    ...before,
    ...(asked.length > 0 ? [{ role: 'user' as const, content: asked.join('\n\n') }] : []),
  ];
}

function textOf({ content }: ChatCompletionMessageParam): string {
  return typeof content === 'string' ? content : '';
}
