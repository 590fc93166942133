/** What a thread checks; schemas and arguments are JSON texts. */
export type CheckJob =
  | { readonly type: 'schema'; readonly schema: string }
  | { readonly type: 'arguments'; readonly schema: string; readonly args: string }
  | { readonly type: 'pattern'; readonly pattern: string; readonly text: string };

export interface CheckAnswer {
  /** What is wrong; absent when nothing is. */
  readonly problem?: string;
  /** Of a pattern. */
  readonly found?: boolean;
}
