import { parseArgs } from 'node:util';

import { normalizeNumber } from '../base/values/e164.ts';
import { DEMO_AGENTS, type DemoAgentName } from './agents/demoAgent.ts';
import { DemoError } from './demoError.ts';

export interface DemoOptions {
  readonly useOpenAi: boolean;
  /** A scripted model and scripted speech vendors, with published latencies. */
  readonly isScripted: boolean;
  /** A real callee instead of the simulated one. */
  readonly call: RealCall | undefined;
  /** A suite of a demo agent in place of a call. */
  readonly test: { readonly agent: DemoAgentName; readonly suite: 'suite' | 'phone' } | undefined;
  /** Keeps the data folder. */
  readonly keep: boolean;
  /** Keeps serving after the call, until Ctrl-C. */
  readonly stay: boolean;
  /** Shows how to look at the call in the console; implies `stay`. */
  readonly showsConsole: boolean;
}

interface RealCall {
  readonly toNumber: string;
  readonly fromNumber: string;
  /** The trunk, with the API's fields. */
  readonly trunk: {
    readonly host: string;
    readonly port: number;
    readonly transport: string;
    readonly username?: string;
    readonly password?: string;
    readonly register: boolean;
  };
}

type Values = ReturnType<typeof parse>['values'];
type Environment = Readonly<Record<string, string | undefined>>;

export const HELP = `npm run demo -- [options]

  --openai               uses the models of OPENAI_API_KEY or OPENAI_BASE_URL instead of the offline ones
  --speech scripted      streaming vendors with published latencies, and a model, that know the call's words
  --test [AGENT]         runs the test suite of a demo agent instead: ${DEMO_AGENTS.join(', ')}
    --phone              its cases by phone
  --keep                 keeps the data folder, to start the service on it
  --console              keeps the web console open after the call, until Ctrl-C
  --stay                 keeps serving after the call, until Ctrl-C
  --call NUMBER          calls a real phone over a real trunk:
    --trunk-host HOST    its SIP server            or DEMO_TRUNK_HOST
    --trunk-port PORT    5060                      or DEMO_TRUNK_PORT
    --trunk-transport T  udp, tcp or tls           or DEMO_TRUNK_TRANSPORT
    --trunk-username U   for digest authentication or DEMO_TRUNK_USERNAME
    --trunk-password P   better set by the environment, as DEMO_TRUNK_PASSWORD
    --trunk-register     registers at the trunk first
    --from NUMBER        whom the call comes from  or DEMO_FROM_NUMBER
`;

/**
 * Reads the command line, with defaults from the environment.
 *
 * @returns The options; undefined when only the help is requested.
 * @throws {DemoError} When an option is unknown, or a required one is missing.
 */
export function readOptions(args: readonly string[], environment: Environment): DemoOptions | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const useOpenAi = values.openai ?? false;
  if (useOpenAi && !environment.OPENAI_API_KEY?.trim() && !environment.OPENAI_BASE_URL?.trim()) {
    throw new DemoError(
      '--openai requires OPENAI_API_KEY or OPENAI_BASE_URL, in the environment or in .env.',
    );
  }
  if (values.speech !== undefined && values.speech !== 'scripted')
    throw new DemoError('--speech must be scripted; --openai uses real models.');
  const isScripted = values.speech === 'scripted';
  if (isScripted && (useOpenAi || values.call !== undefined))
    throw new DemoError('--speech scripted is a simulated call: leave out --openai and --call.');
  if (values.call === undefined) requireNoTrunk(values);
  return {
    useOpenAi,
    isScripted,
    test: readTest(values, positionals),
    call: values.call === undefined ? undefined : readCall(values.call, values, environment),
    keep: values.keep ?? false,
    stay: values.stay === true || values.console === true,
    showsConsole: values.console ?? false,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: flag,
        openai: flag,
        speech: text,
        keep: flag,
        stay: flag,
        console: flag,
        call: text,
        from: text,
        'trunk-host': text,
        'trunk-port': text,
        'trunk-transport': text,
        'trunk-username': text,
        'trunk-password': text,
        'trunk-register': flag,
        test: flag,
        phone: flag,
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DemoError(`${error.message}\n\n${HELP}`);
  }
}

function readTest(values: Values, names: readonly string[]): DemoOptions['test'] {
  const [name = DEMO_AGENTS[0], ...more] = names;
  if (!values.test) {
    const [stray] = values.phone ? ['--phone'] : names;
    if (stray !== undefined) throw new DemoError(`${stray} is for --test: add it.\n\n${HELP}`);
    return undefined;
  }
  if (values.call !== undefined || values.speech !== undefined)
    throw new DemoError('--test plays test cases: leave out --call and --speech.');
  const agent = DEMO_AGENTS.find((one) => one === name);
  if (!agent || more.length > 0)
    throw new DemoError(`--test takes the name of one agent: ${DEMO_AGENTS.join(', ')}.`);
  return { agent, suite: values.phone ? 'phone' : 'suite' };
}

/** Options of a real call without --call are a mistake. The environment may define a trunk for other runs. */
function requireNoTrunk(values: Values): void {
  const [stray] = Object.keys(values).filter((name) => name === 'from' || name.startsWith('trunk-'));
  if (stray !== undefined) {
    throw new DemoError(`--${stray} is for a call over a real trunk: add --call with the number to call.`);
  }
}

function readCall(toNumber: string, values: Values, environment: Environment): RealCall {
  const setting = (option: 'host' | 'port' | 'transport' | 'username' | 'password') => {
    const given = values[`trunk-${option}`] ?? environment[`DEMO_TRUNK_${option.toUpperCase()}`];
    return given?.trim() || undefined;
  };
  const host = setting('host');
  if (host === undefined) {
    throw new DemoError('--call requires a trunk: add --trunk-host with its SIP server.');
  }
  const port = Number(setting('port') ?? (setting('transport') === 'tls' ? 5061 : 5060));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new DemoError('--trunk-port must be a port from 1 to 65535.');
  }
  const transport = setting('transport') ?? 'udp';
  if (!['udp', 'tcp', 'tls'].includes(transport)) {
    throw new DemoError('--trunk-transport must be udp, tcp or tls.');
  }
  const [username, password] = [setting('username'), setting('password')];
  if (username === undefined && (password !== undefined || values['trunk-register'])) {
    throw new DemoError('--trunk-password and --trunk-register require --trunk-username.');
  }
  return {
    toNumber: numberOf('--call', toNumber),
    fromNumber: numberOf('--from', values.from ?? environment.DEMO_FROM_NUMBER ?? ''),
    trunk: {
      host,
      port,
      transport,
      username,
      password,
      register: values['trunk-register'] ?? false,
    },
  };
}

function numberOf(option: string, text: string): string {
  const number = normalizeNumber(text.trim());
  if (number === undefined) {
    throw new DemoError(`${option} requires a number such as +886912345678, or 0912345678 in Taiwan.`);
  }
  return number;
}
