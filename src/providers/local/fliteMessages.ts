/** What the speech thread is asked. */
export interface FliteRequest {
  readonly id: number;
  readonly text: string;
  readonly voice: string;
}

/** What it answers; the samples' memory comes along. */
export type FliteAnswer =
  | { readonly id: number; readonly samples: Int16Array }
  | { readonly id: number; readonly error: string };
