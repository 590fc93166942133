import type {
  Choice,
  Criterion,
  JsonObject,
  Persona,
  RuleRequest,
  Situation,
  VariableConfig,
} from './request.ts';
import { propertiesOf, recordOf } from './toolCalls.ts';

/** The longest message of the user that is read, about two minutes of speech. */
export const MAX_READ_CHARACTERS = 2_000;
/** The tool that takes an edge. */
export const MOVE_TOOL = 'move_to';

const STEP = /^(?:You are|The conversation above is) at this step:\n## (.*) \((\w+)\)(?:\n|$)/;
/** Matches the beginning of the paragraph after a step's own text. */
const NEXT_PARAGRAPH =
  /\n\n(?:Steps that may come next:|If one of the ways on holds|The person may answer at this step: |Before the conversation goes on, ask|Known facts \(JSON\): |Answer from these passages|Answer in this language: |For this answer:|Today is |Which of these holds)/;
const EXPECTED_ANSWERS = /\n\nThe person may answer at this step: (.*)/;
const ASKED_FIRST = /\n\nBefore the conversation goes on, ask.*\n((?:- .*(?:\n|$))+)/;
const FIRST_PASSAGE = /\n\nAnswer from these passages.*\n\[1\] (?:\([^)\n]*\) )?([\s\S]*?)(?:\n\[2\] |$)/;
/** Matches the beginning of the paragraph after a judge's question. */
const NEXT_QUESTION =
  /\n\n(?:(?:Score|Summarize) the conversation above |Choose the `disposition` |Extract `data` |Instructions: |What was said in )/;
const ASKED_KEYS = /^Answer with one JSON object with these keys: (.*)\.$/m;
const ITEM_NAME = /^- (.*?): /gm;
const TODAY = /\bToday is \p{L}+, (\d{4}-\d{2}-\d{2}),/u;

/** Reads what a request says of its situation, in the words that the gateway uses towards every chat model. */
export function situationOf({ messages, tools = [], jsonSchema, passthrough }: RuleRequest): Situation {
  const prompts = messages.flatMap(({ role, content }) => (role === 'system' && content ? [content] : []));
  const step = prompts.findLast((prompt) => STEP.test(prompt)) ?? '';
  const last = prompts.at(-1) ?? '';
  const [, title = '', type = ''] = STEP.exec(step) ?? [];
  const judge = prompts.findLast((prompt) => ASKED_KEYS.test(prompt)) ?? last;
  const properties = recordOf(jsonSchema?.schema.properties ?? propertiesAsked(judge));
  const edges = choicesOf(last, '- ', recordOf(properties.edge).enum);
  const move = tools.find(({ name }) => name === MOVE_TOOL);
  const moves = recordOf(recordOf(move?.parameters?.properties).edge).enum;
  const said = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages.slice(0, Math.max(said, 0)).findLast(({ role }) => role === 'assistant');
  return {
    node: step === '' ? undefined : { title, type, prompt: ownText(step) },
    choices: move ? choicesOf(move.description ?? '', '', moves) : edges,
    variableConfigs: [...propertiesOf(jsonSchema?.schema).values()],
    ask: variablesIn(ASKED_FIRST.exec(step)?.[1]),
    lastUserText: messages[said]?.content?.slice(0, MAX_READ_CHARACTERS),
    asked: asked?.content ?? '',
    expectedAnswers: answersIn(EXPECTED_ANSWERS.exec(step)?.[1] ?? ''),
    passage: passageIn(step),
    criteria:
      'results' in properties
        ? criteriaOf(sectionOf(judge, 'Judge the conversation above '), properties.results)
        : undefined,
    scored:
      'scores' in properties
        ? criteriaOf(sectionOf(judge, 'Score the conversation above '), properties.scores)
        : undefined,
    dispositions: 'disposition' in properties ? dispositionsOf(judge, properties.disposition) : undefined,
    data: 'data' in properties ? (schemaIn(judge) ?? recordOf(properties.data)) : undefined,
    wantsSummary: 'summary' in properties,
    persona: personaIn(prompts[0] ?? '', passthrough?.seed),
    today: TODAY.exec(step || last)?.[1],
  };
}

/** The prompt of a step without its heading and the paragraphs that follow it. */
function ownText(step: string): string {
  const body = step.replace(STEP, '\n');
  return body.slice(0, NEXT_PARAGRAPH.exec(body)?.index).trim();
}

function choicesOf(list: string, mark: string, ids: unknown): Choice[] {
  return itemsOf(list, mark, ids).map(([id, sentence]) => ({ id, sentence }));
}

function criteriaOf(prompt: string, results: unknown): Criterion[] {
  const verdict = recordOf(recordOf(recordOf(results).items).properties);
  const names = recordOf(verdict.name).enum;
  return itemsOf(prompt, '- ', names).map(([name, description]) => ({ name, description }));
}

function dispositionsOf(prompt: string, disposition: unknown): Criterion[] {
  const items = itemsOf(sectionOf(prompt, 'Choose the `disposition` '), '- ', recordOf(disposition).enum);
  return items.map(([name, description]) => ({ name, description }));
}

/** The properties of an answer whose schema is in the prompt only, since structured outputs do not take all of it. */
function propertiesAsked(judge: string): JsonObject {
  const [, keys] = ASKED_KEYS.exec(judge) ?? [];
  const names = (beginning: string) => ({
    enum: [...sectionOf(judge, beginning).matchAll(ITEM_NAME)].map(([, name]) => name),
  });
  const verdicts = (beginning: string) => ({ items: { properties: { name: names(beginning) } } });
  const known: JsonObject = {
    results: verdicts('Judge the conversation above '),
    scores: verdicts('Score the conversation above '),
    disposition: names('Choose the `disposition` '),
  };
  return Object.fromEntries((keys?.split(', ') ?? []).map((key) => [key, known[key] ?? {}]));
}

/** The user's own schema of the data, which stands on one line. */
function schemaIn(judge: string): JsonObject | undefined {
  const [json] = /\{.*\}/.exec(sectionOf(judge, 'Extract `data` ')) ?? [];
  return json === undefined ? undefined : recordOf(JSON.parse(json));
}

/** The part of a judge's prompt that begins so. */
function sectionOf(prompt: string, beginning: string): string {
  const from = `\n\n${prompt}`.indexOf(`\n\n${beginning}`);
  const section = from < 0 ? '' : prompt.slice(from);
  return section.slice(0, NEXT_QUESTION.exec(section)?.index);
}

/** The items of a list by their names, which begin a line each. */
function itemsOf(list: string, mark: string, names: unknown): (readonly [name: string, text: string])[] {
  const known = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  let at = 0;
  const found = known.map((name) => {
    const head = `\n${mark}${name}: `;
    const from = list.indexOf(head, at);
    if (from >= 0) at = from + head.length;
    return { name, from, start: at };
  });
  return found.map(({ name, from, start }, index) => {
    const end = found.slice(index + 1).find((next) => next.from >= 0)?.from;
    return [name, from < 0 ? '' : list.slice(start, end)];
  });
}

function variablesIn(lines: string | undefined): VariableConfig[] | undefined {
  return lines
    ?.trim()
    .split('\n')
    .map((line) => {
      const [name = '', description = ''] = line.slice(2).split(/: (.*)/);
      return { name, type: 'string', description };
    });
}

function answersIn(list: string): string[] {
  try {
    return JSON.parse(`[${list}]`) as string[];
  } catch {
    return [];
  }
}

function passageIn(step: string): string | undefined {
  const [, passage] = FIRST_PASSAGE.exec(step) ?? [];
  return passage?.slice(0, NEXT_PARAGRAPH.exec(passage)?.index);
}

function personaIn(prompt: string, seed: unknown): Persona | undefined {
  const [, own, hangUp, rest] =
    /^You play a person.*?\n\n([\s\S]*)\n\nWrite (.+?) after your last words (.*)\.$/s.exec(prompt) ?? [];
  if (own === undefined || hangUp === undefined) return undefined;
  const [, words = '', goal, facts = '{}'] =
    /^(.*?)(?:\n\nYour goal: (.*?))?(?:\n\nYou are: .*?)?(?:\n\nWhat you know, and nothing else: (.*))?$/s.exec(
      own,
    ) ?? [];
  return {
    prompt: words,
    goal,
    facts: JSON.parse(facts) as Persona['facts'],
    hangUpWhen: /^when this holds: (.*)/s.exec(rest ?? '')?.[1],
    hangUp,
    seed: typeof seed === 'number' ? seed : 0,
  };
}
