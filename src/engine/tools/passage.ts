import type { KnowledgePassage } from './toolRunner.ts';

/** What of a document a model is shown. */
export type Passage = Pick<KnowledgePassage, 'content' | 'source'>;

/** As the model reads it: with the document that it is from. */
export function shownPassage({ content, source }: Passage): string {
  return source === undefined ? content : `(${source}) ${content}`;
}
