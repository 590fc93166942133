import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import { listen } from './client.ts';
import { type BenchProject, createProject } from './project.ts';
import { KNOWN_TURNS, type KnownTurn, RECEPTION } from './receptionPathway.ts';
import { ANSWER_MARK, RULE_MODEL_NOTE } from './ruleModel.ts';
import type { Server } from './servers.ts';

const MODES = ['smart', 'balance', 'turbo'] as const;

interface Turn {
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly firstTokenMs: number;
  readonly isRight: boolean;
}

/** Model requests and hit rate of each execution mode, over turns whose right next node is known. */
export async function measureModes(product: Server, upstream: Server): Promise<void> {
  const rows: string[][] = [];
  for (const mode of MODES) {
    const project = await createProject(product.url, { executionMode: mode }, RECEPTION);
    const turns: Turn[] = [];
    for (const [index, known] of KNOWN_TURNS.entries()) {
      turns.push(await takeTurn(project, upstream, `${mode}-${index}`, known));
    }
    const mean = (pick: (turn: Turn) => number) =>
      (turns.reduce((sum, turn) => sum + pick(turn), 0) / turns.length).toFixed(1);
    const firsts = turns.map(({ firstTokenMs }) => firstTokenMs);
    const right = turns.filter(({ isRight }) => isRight).length;
    rows.push([
      mode,
      mean(({ calls }) => calls),
      mean(({ promptTokens }) => promptTokens),
      mean(({ completionTokens }) => completionTokens),
      percentile(firsts, 0.5).toFixed(1),
      percentile(firsts, 0.95).toFixed(1),
      `${right} of ${turns.length}`,
    ]);
  }
  console.log(
    `The execution modes, over ${KNOWN_TURNS.length} turns whose right end is known. ${RULE_MODEL_NOTE}`,
  );
  console.log(
    table([
      [
        'a turn',
        'model calls',
        'prompt tokens',
        'completion tokens',
        'first token p50 ms',
        'p95',
        'right way taken',
      ],
      ...rows,
    ]),
  );
}

async function takeTurn(
  project: BenchProject,
  upstream: Server,
  sessionId: string,
  { before, said, node }: KnownTurn,
): Promise<Turn> {
  const options = { headers: { 'x-session-id': sessionId }, mark: ANSWER_MARK };
  if (before !== undefined) await listen(project, before, options);
  await upstream.figures();
  const heard = await listen(project, said, options);
  const { requests } = await upstream.figures();
  const { state } = (await project.call('GET', `/sessions/${sessionId}`)) as {
    state: { currentNodeId: string | null };
  };
  return {
    calls: requests,
    promptTokens: lastCount(heard.text, 'prompt_tokens'),
    completionTokens: lastCount(heard.text, 'completion_tokens'),
    firstTokenMs: heard.firstTokenMs,
    isRight: state.currentNodeId === node,
  };
}

function lastCount(text: string, field: string): number {
  return Number([...text.matchAll(new RegExp(`"${field}":(\\d+)`, 'g'))].at(-1)?.[1]);
}
