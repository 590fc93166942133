import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { PatternMatcher } from '../../agents/schemaChecker.ts';
import type { Assertion } from '../../agents/testSuites/assertion.ts';
import { readJsonPath } from '../../agents/testSuites/jsonPath.ts';
import { CallwayError } from '../../base/errors.ts';
import { parseArguments } from '../../engine/tools/toolRunner.ts';
import type { Exchange, Observation } from '../play/observation.ts';
import { type Remark, remark } from './remark.ts';
import type { Verdict } from './verdict.ts';
import { indexOfWords, wordsIn } from './words.ts';

/** The longest text that is examined: more adds time and no certainty. */
const MAX_CHARACTERS = 2_000;

type Found = Omit<Verdict, 'type'>;
type Of<Type extends Assertion['type']> = Extract<Assertion, { type: Type }>;

export interface AssertionDeps {
  readonly projectId: string;
  readonly patterns: PatternMatcher;
  readonly judge: (assertion: Of<'judge'>, seen: Observation, signal: AbortSignal) => Promise<Found>;
}

/** Judges one assertion over what was seen. */
export async function judgeAssertion(
  deps: AssertionDeps,
  assertion: Assertion,
  seen: Observation,
  signal: AbortSignal,
): Promise<Verdict> {
  // What was said may be long, and a case has hundreds of assertions.
  await eventLoopTurn();
  return { type: assertion.type, ...(await judge(deps, assertion, seen, signal)) };
}

async function judge(
  deps: AssertionDeps,
  assertion: Assertion,
  seen: Observation,
  signal: AbortSignal,
): Promise<Found> {
  switch (assertion.type) {
    case 'regex':
      return await matches(deps, assertion, seen);
    case 'language_is':
      return await languageIs(assertion, seen);
    case 'judge':
      return await deps.judge(assertion, seen, signal);
    default:
      return decide(assertion, seen);
  }
}

function decide(
  assertion: Exclude<Assertion, Of<'regex' | 'language_is' | 'judge'>>,
  seen: Observation,
): Found {
  const { exchanges, variables, endedBy } = seen;
  switch (assertion.type) {
    case 'contains':
      return presence(exchanges, assertion.value, (agent, value) => folded(agent).includes(folded(value)));
    case 'not_contains':
      return absence(exchanges, assertion.value, (agent, value) => folded(agent).includes(folded(value)));
    case 'not_said':
      return absence(exchanges, assertion.value, says);
    case 'said_in_order':
      return saidInOrder(assertion, exchanges);
    case 'node_visited':
      return collected(
        exchanges,
        ({ nodes }) => nodes,
        (nodeId) => nodeId === assertion.nodeId,
      );
    case 'variable_equals':
      return equality(own(variables, assertion.name), assertion.value);
    case 'json_path':
      return equality(readJsonPath(variables, assertion.path), assertion.value);
    case 'tool_called':
      return collected(
        exchanges,
        ({ tools }) => tools.map(({ name }) => name),
        (name) => name === assertion.name,
      );
    case 'tool_called_with':
      return calledWith(assertion, exchanges);
    case 'transferred_to':
      return collected(
        exchanges,
        ({ transfers }) => transfers,
        (to) => to === assertion.to,
      );
    case 'dtmf_sent':
      return digitsSent(assertion, exchanges);
    case 'ended_by':
      return { passed: endedBy === assertion.value, seen: endedBy };
    case 'max_latency_ms':
      return slowest(exchanges, ({ latencyMs }) => latencyMs, assertion.value, remark('silent'));
    case 'interrupted_within_ms':
      return slowest(
        exchanges.map((exchange) => ({ ...exchange, ...atInterruption(exchange) })),
        ({ stoppedWithinMs }) => stoppedWithinMs,
        assertion.value,
        remark('not_interrupted'),
      );
  }
}

function presence(
  exchanges: readonly Exchange[],
  value: string,
  holds: (agent: string, value: string) => boolean,
): Found {
  const found = exchanges.find(({ agent }) => holds(agent, value));
  if (found) return { passed: true, seen: found.agent, ...placeOf(found) };
  return { passed: false, seen: wordsOf(exchanges), reason: remark('not_said', value) };
}

function absence(
  exchanges: readonly Exchange[],
  value: string,
  holds: (agent: string, value: string) => boolean,
): Found {
  const found = exchanges.find(({ agent }) => holds(agent, value));
  if (!found) return { passed: true, seen: wordsOf(exchanges) };
  return { passed: false, seen: found.agent, ...placeOf(found), reason: remark('said', value) };
}

function saidInOrder({ values }: Of<'said_in_order'>, exchanges: readonly Exchange[]): Found {
  const owners = exchanges.flatMap((exchange) => wordsIn(exchange.agent).map((word) => ({ word, exchange })));
  const words = owners.map(({ word }) => word);
  let from = 0;
  let last: Exchange | undefined;
  for (const value of values) {
    const wanted = wordsIn(value);
    const at = indexOfWords(words, wanted, from);
    if (at < 0)
      return {
        passed: false,
        seen: wordsOf(exchanges),
        ...(last && placeOf(last)),
        reason: remark(from > 0 ? 'next_not_said' : 'first_not_said', value),
      };
    last = owners[at]?.exchange;
    from = at + wanted.length;
  }
  return { passed: true, seen: wordsOf(exchanges), ...(last && placeOf(last)) };
}

async function languageIs({ value }: Of<'language_is'>, { exchanges }: Observation): Promise<Found> {
  const seen = await languageOf(exchanges.map(({ agent }) => agent).join('\n'));
  const [wanted] = value.split('-');
  return { passed: seen === wanted, seen };
}

async function matches(
  { projectId, patterns }: AssertionDeps,
  { value }: Of<'regex'>,
  { exchanges }: Observation,
): Promise<Found> {
  try {
    const words = wordsOf(exchanges);
    for (const exchange of exchanges) {
      if (await patterns.findPattern(projectId, value, exchange.agent))
        return { passed: true, seen: exchange.agent, ...placeOf(exchange) };
    }
    // A pattern may span answers.
    return { passed: await patterns.findPattern(projectId, value, words), seen: words };
  } catch (error) {
    if (!(error instanceof CallwayError)) throw error;
    return { passed: false, seen: null, reason: error.message };
  }
}

function collected(
  exchanges: readonly Exchange[],
  read: (exchange: Exchange) => readonly string[],
  isWanted: (one: string) => boolean,
): Found {
  const found = exchanges.find((exchange) => read(exchange).some(isWanted));
  const seen = exchanges.flatMap(read);
  return found ? { passed: true, seen, ...placeOf(found) } : { passed: false, seen };
}

function calledWith(assertion: Of<'tool_called_with'>, exchanges: readonly Exchange[]): Found {
  const calls = exchanges.flatMap((exchange) =>
    exchange.tools.map(({ name, arguments: text }) => ({
      exchange,
      name,
      arguments: parseArguments(text) ?? {},
    })),
  );
  const ofTool = calls.filter(({ name }) => name === assertion.name);
  const found = ofTool.find((call) => includes(call.arguments, assertion.arguments));
  if (found) return { passed: true, seen: found.arguments, ...placeOf(found.exchange) };
  const reason = ofTool.length === 0 ? remark('not_called', assertion.name) : remark('other_arguments');
  return { passed: false, seen: ofTool.map((call) => call.arguments), reason };
}

function digitsSent({ digits }: Of<'dtmf_sent'>, exchanges: readonly Exchange[]): Found {
  const one = collected(
    exchanges,
    (exchange) => exchange.digits,
    (sent) => sent === digits,
  );
  const all = exchanges.flatMap((exchange) => exchange.digits).join('');
  return { ...one, passed: one.passed || all === digits, seen: all };
}

function slowest(
  exchanges: readonly Exchange[],
  read: (exchange: Exchange) => number | undefined,
  limit: number,
  reason: Remark,
): Found {
  let worst: Exchange | undefined;
  for (const exchange of exchanges)
    if ((read(exchange) ?? -1) > (worst ? (read(worst) ?? -1) : -1)) worst = exchange;
  const seen = worst && read(worst);
  if (!worst || seen === undefined) return { passed: false, seen: null, reason };
  return { passed: seen <= limit, seen, ...placeOf(worst) };
}

function equality(seen: unknown, wanted: unknown): Found {
  return { passed: isSame(seen ?? null, wanted), seen: seen ?? null };
}

/** Objects may have more keys than wanted. */
function includes(value: unknown, wanted: unknown): boolean {
  if (!isObject(wanted)) return isSame(value, wanted);
  return isObject(value) && Object.entries(wanted).every(([key, one]) => includes(own(value, key), one));
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((entry, index) => isSame(entry, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function placeOf({ turn, atMs }: Exchange): Pick<Verdict, 'turn' | 'atMs'> {
  return { turn, atMs };
}

function atInterruption({ interruptedAtMs }: Exchange): { readonly atMs?: number } {
  return interruptedAtMs === undefined ? {} : { atMs: interruptedAtMs };
}

function wordsOf(exchanges: readonly Exchange[]): string {
  return exchanges.flatMap(({ agent }) => (agent === '' ? [] : agent)).join('\n');
}

/** Removes differences of case and spacing. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ');
}

/** The whole words, without case and punctuation. */
function says(agent: string, value: string): boolean {
  const wanted = wordsIn(value);
  return wanted.length > 0 && indexOfWords(wordsIn(agent), wanted) >= 0;
}

/** @returns The language of a text in ISO 639-1; null where it cannot be told. */
async function languageOf(text: string): Promise<string | null> {
  // Loaded when it is first used: few tests ask for a language.
  const { detect } = await import('tinyld');
  return detect(text.slice(0, MAX_CHARACTERS)) || null;
}
