import { evaluateExpression } from '../../agents/pathway/evaluateExpression.ts';
import type { ToolMock } from '../../agents/testSuites/testCase.ts';
import type { ComputeShares } from '../../base/async/computeShares.ts';
import { sleep } from '../../base/async/sleep.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { BeforeStartClient } from '../../engine/session/beforeStart.ts';
import type { SessionTest } from '../../engine/session/session.ts';
import { parseArguments, type ToolOutcome, type ToolRunner } from '../../engine/tools/toolRunner.ts';

/** The mock of this name answers for the agent's `beforeStartConfig`. */
const BEFORE_START = 'beforeStartConfig';

export interface MockedToolsDeps {
  readonly mocks: readonly ToolMock[];
  /** Runs real tools; undefined when the case does not allow them. */
  readonly real: ToolRunner | undefined;
  readonly clock: Clock;
  readonly shares: ComputeShares;
}

/** Tools that answer as the case says. One without a mock is not called, unless real tools are allowed. */
export function createMockedTools({ mocks, real, clock, shares }: MockedToolsDeps): ToolRunner {
  return {
    async run(tool, argumentsText, variables, signal, caller) {
      const args = parseArguments(argumentsText);
      const share = shares.of(caller.projectId);
      const mock = mocks.find(
        ({ name, when }) =>
          name === tool.name && (when === undefined || evaluateExpression(when, args ?? {}, { share })),
      );
      if (!mock) {
        if (real) return await real.run(tool, argumentsText, variables, signal, caller);
        return { ok: false, text: notMocked(tool.name), durationMs: 0 };
      }
      const { delayMs = 0 } = mock;
      if (delayMs > 0) await sleep(clock, delayMs, signal);
      return { ...outcomeOf(mock), durationMs: delayMs };
    },
  };
}

/** Tools that answer in a test's session as its case says, and in any other as they are. */
export function withMocksOfTests({
  real,
  clock,
  shares,
}: Pick<MockedToolsDeps, 'clock' | 'shares'> & { readonly real: ToolRunner }): ToolRunner {
  return {
    run(...call) {
      const [, , , , { standIns }] = call;
      if (!standIns) return real.run(...call);
      const { toolMocks: mocks, allowRealTools } = standIns;
      const tools = createMockedTools({ mocks, real: allowRealTools ? real : undefined, clock, shares });
      return tools.run(...call);
    },
  };
}

/** The client by which a test asks the agent's `beforeStartConfig`. */
export function mockedBeforeStart(
  { toolMocks, allowRealTools }: Pick<SessionTest, 'toolMocks' | 'allowRealTools'>,
  real: BeforeStartClient,
  clock: Clock,
): BeforeStartClient {
  const mock = toolMocks.find(({ name }) => name === BEFORE_START);
  return {
    async request(request) {
      if (!mock) {
        if (allowRealTools) return await real.request(request);
        throw new CallwayError('unprocessable', 'not_mocked', notMocked(BEFORE_START));
      }
      const { delayMs = 0, error, result = {} } = mock;
      if (delayMs > 0) await sleep(clock, delayMs, request.signal ?? new AbortController().signal);
      if (error !== undefined) throw new CallwayError('unprocessable', 'mocked_error', error);
      const body = Buffer.from(JSON.stringify(result));
      return { status: 200, headers: {}, body, durationMs: delayMs, address: '' };
    },
    close: () => real.close(),
  };
}

function outcomeOf({ result = null, error }: ToolMock): ToolOutcome {
  if (error !== undefined) return { ok: false, text: error };
  return { ok: true, text: typeof result === 'string' ? result : JSON.stringify(result), value: result };
}

function notMocked(name: string): string {
  return `${name} is not called in a test: the test case has no mock of it and does not allow real tools`;
}
