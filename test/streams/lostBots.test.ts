import { describe, expect, test } from 'vitest';
import {
  clientDialectNames,
  findClientDialect,
  findDialect,
  isTextDialect,
} from '../../src/dialects/index.ts';
import type { StreamEnd } from '../../src/media/agentStream/streamClient.ts';
import { SocketStreamClient } from '../../src/streams/connectStream.ts';
import {
  answerCall,
  END,
  errorCodes,
  leg,
  settle as settleCall,
  t,
  useRunner,
} from '../calls/runner/support/runnerRig.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { type MemorySocket, memorySockets } from './support/memorySockets.ts';

useRunner();

const ignore = () => undefined;

/** A call's connection to a bot, which the bot ends in this way. @returns What the call is told. */
async function endOf(dialect: string, leave: (bot: MemorySocket) => void): Promise<StreamEnd | undefined> {
  const [socket, bot] = memorySockets();
  const ends: StreamEnd[] = [];
  const handler = { audio: ignore, mark: ignore, clear: ignore, command: ignore, failoverPrompts: ignore };
  const target = {
    url: '',
    dialect,
    streamId: 'st',
    callId: 'call',
    customParameters: {},
    canReconnect: false,
  };
  const request = { target, sampleRateHz: 8000, signal: new AbortController().signal } as const;
  const deps = { clock: createSimulatedClock() };
  const onEnd = { ...handler, closed: (end: StreamEnd) => void ends.push(end) };
  new SocketStreamClient(socket, findClientDialect(dialect), request, onEnd, deps);
  leave(bot);
  await new Promise((resolve) => setImmediate(resolve));
  return ends[0];
}

const audioDialects = clientDialectNames.filter((name) => !isTextDialect(findDialect(name)));

describe.each(audioDialects)('A call with a bot of %s', (dialect) => {
  test.each<readonly [string, (bot: MemorySocket) => void, readonly string[]]>([
    ['breaks', (bot) => bot.terminate(), ['engine_lost']],
    ['ends with an error', (bot) => bot.close(1011), ['engine_lost']],
    ['closes in order', (bot) => bot.close(1000), []],
    ['closes without a code', (bot) => bot.close(), []],
  ])('ends with agent_hangup, and tells of a loss, where the connection %s', async (_how, leave, errors) => {
    const end = await endOf(dialect, leave);
    if (!end) throw new Error('the call was not told');
    t.canReconnect = false;
    await answerCall();
    leg().mediaEvents.emit('streamClosed', end);
    await settleCall();
    expect(errorCodes()).toEqual(errors);
    leg().legEvents.emit('ended', END);
    await settleCall();
    expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'agent_hangup' }]);
  });
});

test('A call with a bot of conversationrelay, which has apologized, ends with agent_error', async () => {
  t.canReconnect = true;
  await answerCall();
  leg().mediaEvents.emit('command', { kind: 'hangup', reason: 'error' });
  await settleCall();
  leg().legEvents.emit('ended', END);
  await settleCall();
  expect(t.finished).toMatchObject([{ status: 'completed', endReason: 'agent_error' }]);
});
