import fc from 'fast-check';
import { expect, test } from 'vitest';

import { CallwayError } from '../../../src/base/errors.ts';
import { TurnCancelledError } from '../../../src/engine/turn/delivery.ts';
import { runsAllFaults } from '../../e2e/faults/support/table.ts';
import { PROJECT } from '../../support/memoryEngine.ts';
import { askedIn, interleavedNodes, type Seen, type Turn } from './support/interleaved.ts';

type Act =
  | ({ readonly act: 'turn' } & Turn)
  | { readonly act: 'end' | 'end, and begin anew' | 'idle' | 'lock lost'; readonly node: 0 | 1 };
type World = ReturnType<typeof interleavedNodes>;

/** How often an act may replace or end the session without its lock, so that a running turn fails. */
const CHANGES = { turn: 0, end: 1, idle: 1, 'lock lost': 1, 'end, and begin anew': 2 };

const node = fc.constantFrom(0 as const, 1 as const);
const turn = fc.record({
  act: fc.constant('turn' as const),
  node,
  kind: fc.constantFrom(
    'user_message' as const,
    'user_message' as const,
    'spoken' as const,
    'unanswered_message' as const,
  ),
  model: fc.constantFrom(
    'answers' as const,
    'fails first' as const,
    'fails later' as const,
    'calls a tool' as const,
    'asks the documents' as const,
    'ends the call' as const,
  ),
  stay: fc.constantFrom(
    'to the end' as const,
    'to the end' as const,
    1,
    2,
    3,
    'hangs up' as const,
    'speaks on' as const,
  ),
});
const other = fc.record({
  act: fc.constantFrom('end' as const, 'end, and begin anew' as const, 'idle' as const),
  node,
});
const lockLost = fc.record({ act: fc.constant('lock lost' as const), node });
const outage = fc.record({ request: fc.nat(12), tookEffect: fc.boolean() });
const some = <Value>(of: fc.Arbitrary<Value>) => fc.array(of, { minLength: 2, maxLength: 4 });
/** The timeout reports a turn that never ends. */
const RUNS = { numRuns: runsAllFaults ? 10_000 : 40, timeout: 20_000 };

test('Turns, ends and sweeps of one session in any order lose, repeat and leak nothing', async () => {
  const acts = some(fc.oneof({ weight: 3, arbitrary: turn }, other));
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.boolean(),
    acts,
    async (scheduler, isKnown, planned) => {
      await meet(interleavedNodes(scheduler), scheduler, isKnown, planned, false);
    },
  );
  await fc.assert(property, RUNS);
}, 300_000);

test('With a lost lock or an unavailable database, they lose only what the customer was told has failed', async () => {
  const acts = some(fc.oneof({ weight: 4, arbitrary: turn }, other, lockLost));
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.option(outage),
    fc.boolean(),
    acts,
    async (scheduler, away, isKnown, planned) => {
      await meet(interleavedNodes(scheduler, away), scheduler, isKnown, planned, true);
    },
  );
  await fc.assert(property, RUNS);
}, 300_000);

async function meet(
  here: World,
  scheduler: fc.Scheduler,
  isKnown: boolean,
  planned: readonly Act[],
  isTroubled: boolean,
): Promise<void> {
  // Each node has run a turn of the session.
  for (const which of isKnown ? ([1, 0] as const) : []) await here.take(`words-${which}`, quiet(which));
  here.world.isGated = true;
  const acting = Promise.all(planned.map((act, index) => perform(here, act, `words-${index + 3}`)));
  const seen = (await scheduler.waitFor(acting)).filter((one) => one !== undefined);
  await scheduler.waitIdle();
  here.world.isGated = false;

  const changes = planned.reduce((sum, { act }) => sum + CHANGES[act], isTroubled ? 1 : 0);
  for (const one of seen) check(here, one, changes, isTroubled);
  checkSession(here, isTroubled);
  for (const [index, which] of [0 as const, 1 as const].entries()) {
    const words = `words-${index + 90}`;
    expect(await here.take(words, quiet(which))).toMatchObject({ text: `To ${words}: yes.`, isDone: true });
  }
}

function quiet(which: 0 | 1): Turn {
  return { node: which, kind: 'user_message', model: 'answers', stay: 'to the end' };
}

async function perform(here: World, act: Act, words: string): Promise<Seen | undefined> {
  if (act.act === 'turn') return await here.take(words, act);
  if (act.act === 'lock lost') await here.loseLock();
  else await changeSession(here, act.act, act.node).catch(onlyExpected);
  return undefined;
}

async function changeSession(here: World, act: 'end' | 'end, and begin anew' | 'idle', at: 0 | 1) {
  const { engine: conversations } = here.nodes[at];
  const live = here.live();
  if (act !== 'idle') await conversations.end(PROJECT, 's', 'api_end');
  else if (live) await conversations.endIdle(live);
  if (act !== 'end, and begin anew') return;
  await conversations.create({ projectId: PROJECT, sessionId: 's', channel: 'chat' });
}

/** A turn may have created the session already, or the database is unavailable. */
function onlyExpected(error: unknown): void {
  const code = error instanceof CallwayError ? error.code : '';
  if (code !== 'session_id_in_use' && code !== 'database_unavailable') throw error;
}

/** Checks one turn. */
function check({ kept, requests }: World, seen: Seen, changes: number, isTroubled: boolean): void {
  const { words, turn: taken, text, isDone, error } = seen;
  const records = kept.filter(({ record }) => record.messages.some(({ content }) => content === words));
  const said = records
    .flatMap(({ record }) => record.messages)
    .filter(({ role, internal }) => role === 'assistant' && !internal)
    .map(({ content }) => content)
    .join('');
  const asked = requests.map(askedIn).filter((one) => one.words === words && !one.isAfterTool).length;
  const what = { words, taken, text, isDone, error: String(error), asked, said, kept: records.length };

  expect(records.length, JSON.stringify(what)).toBeLessThanOrEqual(1);
  if (isDone) expect(records.length, JSON.stringify(what)).toBe(1);
  if (isDone) expect(said, JSON.stringify(what)).toBe(text);
  if (error instanceof TurnCancelledError) expect(said, JSON.stringify(what)).toBe('');
  else if (!isTroubled || error === undefined) expect(said.startsWith(text), JSON.stringify(what)).toBe(true);
  expect(asked, JSON.stringify(what)).toBeLessThanOrEqual(taken.kind === 'unanswered_message' ? 0 : 1);
  expect(seen.settled, JSON.stringify(what)).toBeLessThanOrEqual(1);
  if (isDone && taken.kind !== 'user_message') expect(seen.told, JSON.stringify(what)).toBe(1);
  expect(isExpected(seen, changes, isTroubled), JSON.stringify(what)).toBe(true);
}

function isExpected(
  { error, turn: { kind, model, stay } }: Seen,
  changes: number,
  isTroubled: boolean,
): boolean {
  if (error === undefined) return true;
  if (error instanceof TurnCancelledError) return stay === 'speaks on';
  if (stay !== 'to the end' && error instanceof Error && error.message === 'gone') return true;
  switch (error instanceof CallwayError ? error.code : undefined) {
    case 'model_unavailable':
      return model === 'fails first' || model === 'fails later';
    case 'session_changed':
      return changes > 0;
    case 'session_id_in_use':
      // A spoken turn does not switch to another session; and the other session may have ended again when it is read.
      return changes > (kind === 'user_message' ? 2 : 1);
    case 'session_busy':
    case 'database_unavailable':
      return isTroubled;
    default:
      return false;
  }
}

/** Checks the live session and the ended ones. */
function checkSession({ kept, ended, live, isLocked, errors }: World, isTroubled: boolean): void {
  expect(isLocked()).toBe(false);
  if (!isTroubled) expect(errors).toEqual([]);
  const session = live();
  if (session) {
    const mine = kept.filter(({ instanceId }) => instanceId === session.instanceId);
    expect(mine.map((one) => one.turn)).toEqual(mine.map((_, index) => index + 1));
    expect(session.turn).toBe(mine.length);
    expect(session.state.messages).toEqual(mine.flatMap(({ record }) => record.messages));
  }
  for (const { instanceId, reason } of ended) {
    if (reason !== 'end_call_tool') continue;
    const events = kept.filter((one) => one.instanceId === instanceId).flatMap(({ record }) => record.events);
    expect(events.some(({ type, data }) => type === 'tool_called' && data.name === 'end_call')).toBe(true);
  }
}
