import {
  chunk,
  done,
  type RequestBody,
  type Script,
  type Step,
  usageChunk,
} from '../../test/support/scriptedUpstream.ts';

/** Knows word stems and some synonyms, and is slow. */
export const LARGE_MODEL = 'rules-large';
/** Knows literal words only, and is fast. */
export const SMALL_MODEL = 'rules-small';

/** Delays of the two models. */
const PACE = {
  [LARGE_MODEL]: { firstTokenMs: 60, gapMs: 3 },
  [SMALL_MODEL]: { firstTokenMs: 20, gapMs: 1 },
} as const;

/** Description beside its figures. */
export const RULE_MODEL_NOTE =
  `The upstream is no language model: it takes the way whose sentence shares most words with the person's (${LARGE_MODEL}: by stems and ` +
  `synonyms, ${PACE[LARGE_MODEL].firstTokenMs} ms to its first token; ${SMALL_MODEL}: as written, ${PACE[SMALL_MODEL].firstTokenMs} ms), and none where two are level. ` +
  'It knows nothing of the right answers. Tokens are counted as characters / 4.';

const ANSWER = [
  'Well ',
  'then, ',
  'let ',
  'us ',
  'look ',
  'into ',
  'that ',
  'for ',
  'you. ',
  'Just ',
  'a ',
  'moment.',
];
/** The start of an answer's text in a stream. */
export const ANSWER_MARK = '"content":"Well ';

const STOP_WORDS = new Set(
  'a an and any are as at be but by can could do does for from have how i in is it me my no not of on or our person please so than that the their them there they this to wants was we what when where which who will with would you your'.split(
    ' ',
  ),
);
const SYNONYMS: readonly (readonly string[])[] = [
  ['appointment', 'visit', 'slot', 'checkup'],
  ['book', 'schedule', 'arrange', 'reserve'],
  ['cancel', 'drop', 'withdraw'],
  ['cost', 'price', 'charge', 'fee', 'expensive'],
  ['open', 'hour', 'close'],
  ['pain', 'hurt', 'ache', 'toothache', 'emergency'],
  ['bill', 'invoice', 'payment', 'pay'],
  ['human', 'receptionist', 'somebody', 'colleague'],
  ['goodbye', 'bye', 'done'],
];

interface Way {
  readonly id: string;
  readonly sentence: string;
}

/** Answers a request as the named model would, from the request alone. */
export function answerByRules(body: RequestBody): Script {
  const model = body.model === SMALL_MODEL ? SMALL_MODEL : LARGE_MODEL;
  const words = lastWords(body);
  const question = routeQuestion(body);
  if (question !== undefined) {
    const edge = chooseWay(waysIn(question), words, model);
    return paced(body, model, [JSON.stringify({ edge })], []);
  }
  const edge = chooseWay(waysIn(moveTool(body)), words, model);
  return paced(body, model, ANSWER, edge === null ? [] : [moveCall(edge)]);
}

function paced(
  body: RequestBody,
  model: keyof typeof PACE,
  pieces: readonly string[],
  calls: readonly Step[],
): Script {
  const { firstTokenMs, gapMs } = PACE[model];
  const promptTokens = Math.ceil(JSON.stringify([body.messages, body.tools]).length / 4);
  const text = pieces.flatMap((content, index): Step[] => [
    { waitMs: index === 0 ? firstTokenMs : gapMs },
    chunk({ content }),
  ]);
  const completionTokens = Math.ceil(pieces.join('').length / 4) + 8 * calls.length;
  const end = [
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    usageChunk(promptTokens, completionTokens),
    done,
  ];
  return { steps: [...text, ...calls, ...end] };
}

function moveCall(edge: string): Step {
  const called = { name: 'move_to', arguments: JSON.stringify({ edge }) };
  return chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] });
}

/** The edge that shares most words with the input; null when none does, or two share as many. */
function chooseWay(ways: readonly Way[], words: string, model: string): string | null {
  const said = notions(words, model);
  const scores = ways
    .map(({ id, sentence }) => ({
      id,
      score: [...notions(sentence, model)].filter((one) => said.has(one)).length,
    }))
    .sort((one, other) => other.score - one.score);
  const [best, second] = scores;
  return best && best.score > 0 && best.score > (second?.score ?? 0) ? best.id : null;
}

function notions(text: string, model: string): Set<string> {
  const words = (text.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => !STOP_WORDS.has(word));
  return new Set(model === SMALL_MODEL ? words : words.map(notionOf));
}

function notionOf(word: string): string {
  const stem = word.replace(/(ing|ed|es|s|e)$/, '');
  return SYNONYMS.find((group) => group.some((other) => other.replace(/e$/, '') === stem))?.[0] ?? stem;
}

/** `- id: sentence` in a question, `id: sentence` in a tool's description. */
function waysIn(text: string): Way[] {
  return [...text.matchAll(/^(?:- )?([\w-]+): (.+)$/gm)].map(([, id = '', sentence = '']) => ({
    id,
    sentence,
  }));
}

function lastWords({ messages }: RequestBody): string {
  return String(list(messages).findLast(({ role }) => role === 'user')?.content ?? '');
}

/** The routing question; undefined when the request asks for an answer. */
function routeQuestion({ messages, response_format: format }: RequestBody): string | undefined {
  return format === undefined ? undefined : String(list(messages).at(-1)?.content ?? '');
}

function moveTool({ tools }: RequestBody): string {
  const offered = (tools ?? []) as readonly { function: { name: string; description?: string } }[];
  return offered.find((tool) => tool.function.name === 'move_to')?.function.description ?? '';
}

function list(messages: unknown) {
  return messages as readonly { role: string; content: unknown }[];
}
