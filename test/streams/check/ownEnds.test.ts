import { describe, expect, test } from 'vitest';
import {
  clientDialectNames,
  findClientDialect,
  findDialect,
  isTextDialect,
} from '../../../src/dialects/index.ts';
import { AgentConnection } from '../../../src/media/agentStream/agentConnection.ts';
import { carrierDialectNames, findCarrierDialect } from '../../../src/streams/check/carrierDialects.ts';
import { checkBot } from '../../../src/streams/check/checkBot.ts';
import { checkGateway } from '../../../src/streams/check/checkGateway.ts';
import type { Finding } from '../../../src/streams/check/finding.ts';
import { SocketStreamClient } from '../../../src/streams/connectStream.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { drive, memorySockets } from '../support/memorySockets.ts';
import { serveAgent } from '../support/servedAgent.ts';

const STREAM_ID = '0198c3a4-7d1e-7c3b-9f00-000000000001';
const failures = (findings: readonly Finding[]) => findings.filter(({ status }) => status === 'fail');
const passed = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status === 'pass').map(({ check }) => check);

describe('Our agent is a right bot', () => {
  test.each(carrierDialectNames)('in %s', async (dialect) => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const { ended } = serveAgent(end, { dialect, clock });
    const findings = await drive(
      clock,
      checkBot({
        ...{ dialect, socket, clock, sampleRateHz: 8000, durationMs: 8000 },
        target: { streamId: STREAM_ID, customParameters: {} },
        speech: new Int16Array(8000).fill(8000),
      }),
    );
    await drive(clock, ended);
    expect(failures(findings)).toEqual([]);
    const { hasNoMarks, botRules } = findCarrierDialect(dialect);
    expect(passed(findings)).toEqual([
      ...['messages', 'audio', 'formats', 'pacing'],
      ...[...(hasNoMarks ? [] : ['marks']), ...(botRules?.hasNoClear ? [] : ['clear'])],
      ...['keys', 'closing'],
    ]);
    const marks = findings.find(({ check }) => check === 'marks');
    expect(marks?.detail === 'the dialect has none').toBe(hasNoMarks === true);
  });
});

describe('Our gateway plays a carrier right', () => {
  const withAudio = clientDialectNames.filter((name) => !isTextDialect(findDialect(name)));
  test.each(withAudio)('in %s', async (dialect) => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const running = checkGateway({ dialect, socket, clock });
    const connection = new AgentConnection(8000, {
      onCommand: ({ kind }) => kind === 'hangup' && void connection.close(1000, 'the agent hung up'),
      onFailoverPrompts: () => undefined,
      onClosed: () => undefined,
    });
    const target = {
      ...{ url: '', dialect, streamId: STREAM_ID, callId: 'CA1', canReconnect: false },
      customParameters: { name: 'Ada' },
    };
    const request = { target, sampleRateHz: 8000, signal: new AbortController().signal } as const;
    const ends = new SocketStreamClient(end, findClientDialect(dialect), request, connection.handler, {
      clock,
    });
    connection.open(ends);
    const frame = new Int16Array(160);
    const findings = await drive(clock, running, () => {
      connection.sendCaller(new Int16Array(160));
      connection.pullAgent(frame);
      connection.sendAnswers(0);
    });
    expect(failures(findings)).toEqual([]);
    const hasMarks = !findClientDialect(dialect).hasNoMarks;
    expect(passed(findings)).toEqual([
      ...['start', 'messages', 'audio', 'pacing', ...(hasMarks ? ['marks', 'clear'] : [])],
      ...['hang-up', 'closing'],
    ]);
  });
});
