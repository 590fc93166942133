import type { ReviewReason } from '../../agents/accounts/reviewRules.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import type { HistorySummary } from '../../engine/history/historyStore.ts';
import type { Review } from '../../engine/history/review.ts';
import type { Evaluation } from '../../engine/history/sessionResults.ts';

type ReviewStatus = 'open' | 'done';

/** A session that is to be reviewed, or was. */
interface SessionToReview extends HistorySummary {
  /** The rules that have queued it; none for a session that a person chose. */
  readonly why: readonly ReviewReason[];
  readonly review?: Review | undefined;
}

/** What a review of a session must fit. */
export interface ReviewedSession {
  readonly instanceId: string;
  readonly status: string;
  readonly evaluation: Evaluation | null;
}

export interface ReviewStore {
  /** The sessions that began last come first. */
  list(projectId: string, status: ReviewStatus, page: Page): Promise<PageOf<SessionToReview>>;
  /** Finds the newest session with this id, and locks it. */
  find(projectId: string, sessionId: string): Promise<ReviewedSession | undefined>;
  /** Replaces an earlier review. */
  save(instanceId: string, review: Review): Promise<void>;
}
