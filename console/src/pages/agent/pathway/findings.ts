import { sentence } from '../../../formats.ts';
import { locale } from '../../../texts.ts';
import type { Graph } from './graph.ts';

/** What the review, or the refusal of a save, says about one place of the pathway. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Within the node or the edge: `/data/prompt`. */
  readonly pointer: string;
}

/** As the API's review has it. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Absent where a save was refused. */
  readonly code?: string;
  readonly message: string;
  readonly path: string;
  readonly nodeId?: string | undefined;
  readonly edgeId?: string | undefined;
}

/** By the id of the node or the edge; those of the whole pathway, and of the agent, under an empty one. */
export type Findings = ReadonlyMap<string, readonly Finding[]>;

const PLACE = /^\/(nodes|edges)\/(\d+)(.*)$/;

/**
 * @param graph - That the problems' paths point into.
 * @param refused - By JSON pointer, of a save.
 */
export function findingsOf(
  graph: Graph,
  problems: readonly Problem[],
  refused: ReadonlyMap<string, string>,
): Findings {
  const found = new Map<string, Finding[]>();
  const refusals = [...refused].map(([path, message]): Problem => ({ severity: 'error', message, path }));
  const errors = [...problems, ...refusals].filter(({ severity }) => severity === 'error');
  // Of the errors at one place the first says enough.
  const isRepeated = (one: Problem) =>
    one.severity === 'error' && errors.find(({ path }) => path === one.path) !== one;
  for (const problem of [...problems, ...refusals].filter((one) => !isRepeated(one))) {
    const [, kind, index, pointer = ''] = PLACE.exec(problem.path) ?? [];
    const parts = kind === 'edges' ? graph.edges : graph.nodes;
    const id =
      problem.nodeId ?? problem.edgeId ?? (kind === undefined ? '' : (parts[Number(index)]?.id ?? ''));
    const { severity } = problem;
    found.set(id, [...(found.get(id) ?? []), { severity, message: sentence(problem.message), pointer }]);
  }
  return found;
}

/** The API's messages are English. The Chinese ones are loaded with the first finding. */
export async function inLanguage(problems: readonly Problem[]): Promise<readonly Problem[]> {
  if (locale !== 'zh-TW' || problems.length === 0) return problems;
  const { findingTextZh } = await import('./findingTextsZh.ts');
  return await Promise.all(
    problems.map(async (problem) => ({
      ...problem,
      message: await findingTextZh(problem.code ?? '', problem.message),
    })),
  );
}

export function worst(findings: readonly Finding[]): Finding['severity'] | undefined {
  if (findings.length === 0) return undefined;
  return findings.some(({ severity }) => severity === 'error') ? 'error' : 'warning';
}
