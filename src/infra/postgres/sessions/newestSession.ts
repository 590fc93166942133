/** The newest session with an id, as a subquery. @param sessionId - Its place; null finds none. */
export function newestSession(projectId: `$${number}`, sessionId: `$${number}`): string {
  return `(SELECT instance_id FROM session_history
    WHERE project_id = ${projectId} AND session_id = ${sessionId}::text ORDER BY started_at DESC LIMIT 1)`;
}
