import { chatCompletionRoutes } from '../chat/chatCompletions.ts';
import { modelRoutes, openAiModelRoutes } from '../chat/models.ts';
import type { App, HttpDeps } from '../ports.ts';
import { agentRoutes } from './agent/agent.ts';
import { mcpServerRoutes } from './agent/mcpServers.ts';
import { pathwayRoutes } from './agent/pathway.ts';
import { pathwayEdgeRoutes, pathwayNodeRoutes } from './agent/pathwayParts.ts';
import { releaseRoutes } from './agent/releases.ts';
import { templatePreviewRoute } from './agent/templatePreview.ts';
import { testCaseRoutes } from './agent/testCases.ts';
import { testRunRoutes } from './agent/testRuns.ts';
import { testSuiteRoutes } from './agent/testSuites.ts';
import { toolRoutes } from './agent/tools.ts';
import { toolTrialRoutes } from './agent/toolTrials.ts';
import { callListRoutes } from './calls/callList.ts';
import { callRoutes } from './calls/calls.ts';
import { doNotCallRoutes } from './calls/doNotCall.ts';
import { mediaFileRoutes } from './calls/mediaFiles.ts';
import { numberRoutes } from './calls/numbers.ts';
import { outboundCallRoutes } from './calls/outboundCalls.ts';
import { participantRoutes } from './calls/participants.ts';
import { phoneNumberRoutes } from './calls/phoneNumbers.ts';
import { recordingRoutes } from './calls/recordings.ts';
import { sipRejectionRoutes } from './calls/sipRejections.ts';
import { supervisionRoutes } from './calls/supervision.ts';
import { timelineRoutes } from './calls/timeline.ts';
import { trunkRoutes } from './calls/trunks.ts';
import { campaignRoutes } from './campaigns/campaigns.ts';
import { contactRoutes } from './campaigns/contacts.ts';
import { importRoutes } from './campaigns/imports.ts';
import { campaignRehearsalRoute } from './campaigns/rehearsal.ts';
import { reportRoute } from './campaigns/report.ts';
import { campaignTransitionRoutes } from './campaigns/transitions.ts';
import { consolePages } from './console.ts';
import { consoleSessionRoutes } from './consoleSession.ts';
import { chunkRoutes } from './knowledge/chunks.ts';
import { datasetRoutes } from './knowledge/datasets.ts';
import { datasetUploadRoutes } from './knowledge/datasetUpload.ts';
import { knowledgebaseRoutes } from './knowledge/knowledgebases.ts';
import { knowledgeQueryRoutes } from './knowledge/knowledgeQuery.ts';
import { documentRoutes, nodeRoutes, settingRoutes } from './operations.ts';
import { apiKeyRoutes } from './projects/apiKeys.ts';
import { projectRoutes } from './projects/projects.ts';
import { providerRoutes } from './projects/providers.ts';
import { rateRoutes } from './projects/rates.ts';
import { speechPreviewRoute } from './projects/speechPreview.ts';
import { usageRoutes } from './projects/usage.ts';
import { webhookRoutes } from './projects/webhooks.ts';
import { alertRoutes } from './results/alerts.ts';
import { analysisRoutes } from './results/analyses.ts';
import { insightRoutes } from './results/insights.ts';
import { reviewRoutes } from './results/reviews.ts';
import { rolloutRoutes } from './results/rollouts.ts';
import { customerRoutes } from './sessions/customers.ts';
import { eventRoutes } from './sessions/events.ts';
import { mediaStreamRoutes } from './sessions/mediaStreams.ts';
import { sessionHistoryRoutes } from './sessions/sessionHistory.ts';
import { sessionRoutes } from './sessions/sessions.ts';
import { widgetScriptRoutes } from './widget/widgetScript.ts';
import { widgetTokenRoutes } from './widget/widgetTokens.ts';

/** The public API; each entry registers the routes of one resource. */
export const API_ROUTES: readonly ((app: App, deps: HttpDeps) => void | Promise<void>)[] = [
  documentRoutes,
  settingRoutes,
  nodeRoutes,
  consoleSessionRoutes,
  consolePages,
  projectRoutes,
  apiKeyRoutes,
  providerRoutes,
  speechPreviewRoute,
  usageRoutes,
  rateRoutes,
  agentRoutes,
  pathwayRoutes,
  pathwayNodeRoutes,
  pathwayEdgeRoutes,
  releaseRoutes,
  rolloutRoutes,
  toolRoutes,
  toolTrialRoutes,
  templatePreviewRoute,
  mcpServerRoutes,
  testCaseRoutes,
  testSuiteRoutes,
  testRunRoutes,
  chatCompletionRoutes,
  modelRoutes,
  openAiModelRoutes,
  sessionRoutes,
  sessionHistoryRoutes,
  insightRoutes,
  analysisRoutes,
  reviewRoutes,
  alertRoutes,
  customerRoutes,
  webhookRoutes,
  eventRoutes,
  mediaStreamRoutes,
  widgetTokenRoutes,
  widgetScriptRoutes,
  knowledgebaseRoutes,
  datasetRoutes,
  datasetUploadRoutes,
  chunkRoutes,
  knowledgeQueryRoutes,
  recordingRoutes,
  trunkRoutes,
  sipRejectionRoutes,
  phoneNumberRoutes,
  numberRoutes,
  outboundCallRoutes,
  doNotCallRoutes,
  callListRoutes,
  callRoutes,
  timelineRoutes,
  participantRoutes,
  mediaFileRoutes,
  supervisionRoutes,
  campaignRoutes,
  campaignTransitionRoutes,
  campaignRehearsalRoute,
  contactRoutes,
  importRoutes,
  reportRoute,
];
