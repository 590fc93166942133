import { runCli } from '../../src/cli/program.ts';

/** Output and exit code of a run. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function cli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  fetchImpl: typeof fetch = fetch,
  onError: (text: string) => void = () => undefined,
): Promise<CliRun> {
  let out = '';
  let err = '';
  const code = await runCli(args, {
    environment,
    fetch: fetchImpl,
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
      onError(text);
    },
  });
  return { code, out, err };
}

/** Gives every request the same response and records the last request. */
export function answering(status: number, body: unknown) {
  const seen: { url?: string; init?: RequestInit } = {};
  const fake = (async (url: unknown, init?: RequestInit) => {
    Object.assign(seen, { url: String(url), init });
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  }) as typeof fetch;
  return { fetch: fake, seen };
}
