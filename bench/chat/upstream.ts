import {
  chunk,
  done,
  type RequestBody,
  type Script,
  type Step,
  startScriptedUpstream,
  usageChunk,
} from '../../test/support/scriptedUpstream.ts';
import { answerByRules } from './ruleModel.ts';
import { parseTokenRequest, TOKEN, type TokenRequest } from './tokenRequest.ts';

export interface Upstream {
  readonly url: string;
  /** Requests since the last report. */
  takeRequests(): number;
}

/** An OpenAI-compatible endpoint: sends the requested number of tokens, and answers everything else by the two rule models. */
export async function startUpstream(): Promise<Upstream> {
  let requests = 0;
  const upstream = await startScriptedUpstream((body) => {
    requests += 1;
    upstream.clearRequests();
    const wish = parseTokenRequest(lastUserText(body));
    return wish ? { steps: granting(wish) } : answerByRules(body);
  });
  return {
    url: upstream.baseUrl,
    takeRequests() {
      const taken = requests;
      requests = 0;
      return taken;
    },
  };
}

function granting({ tokens, gapMs }: TokenRequest): NonNullable<Script['steps']> {
  const token = chunk({ content: TOKEN });
  const steps: Step[] = [chunk({ role: 'assistant', content: '' }), token];
  for (let count = 1; count < tokens; count += 1) {
    if (gapMs > 0) steps.push({ waitMs: gapMs });
    steps.push(token);
  }
  return [...steps, chunk({}, 'stop'), usageChunk(10, tokens), done];
}

export function lastUserText({ messages }: RequestBody): string {
  const list = messages as readonly { role: string; content: unknown }[];
  return String(list.findLast(({ role }) => role === 'user')?.content ?? '');
}
