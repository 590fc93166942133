import { Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { useApi } from '../../api/apiContext.tsx';
import { ApiError } from '../../api/client.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { SEMICOLON, textsIn } from '../../texts.ts';
import { type Campaign, isOver } from './campaignData.ts';

const texts = textsIn({
  en: {
    start: 'Start',
    pause: 'Pause',
    resume: 'Resume',
    cancel: 'Cancel the campaign',
    cancelQuestion: 'Cancel the campaign? Contacts that are left are not called, and it cannot go on.',
    remove: 'Delete',
    removeQuestion: (name: string) => `Delete the campaign ${name} with its contacts?`,
  },
  'zh-TW': {
    start: '開始',
    pause: '暫停',
    resume: '繼續',
    cancel: '取消活動',
    cancelQuestion: '要取消此活動嗎？其餘的聯絡人將不再撥打，且無法繼續。',
    remove: '刪除',
    removeQuestion: (name: string) => `要刪除外撥活動 ${name} 及其聯絡人嗎？`,
  },
});

/** What leads on from each status. */
const NEXT = { draft: 'start', running: 'pause', paused: 'resume' } as const;

/** Starts, pauses, resumes, cancels or deletes a campaign. */
export function CampaignActions({ projectId, campaign }: { projectId: string; campaign: Campaign }) {
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { id, name, status, counts } = campaign;
  const path = { projectId, campaignId: id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['campaigns', projectId] });
  const change = useMutation({
    mutationFn: ({ transition }: { transition: 'start' | 'pause' | 'resume'; total: number }) =>
      api.POST(`/v1/projects/{projectId}/campaigns/{campaignId}/${transition}`, { params: { path } }),
    onSettled: refresh,
  });
  const cancel = async () => {
    await api.POST('/v1/projects/{projectId}/campaigns/{campaignId}/cancel', { params: { path } });
    await refresh();
  };
  const remove = async () => {
    await api.DELETE('/v1/projects/{projectId}/campaigns/{campaignId}', { params: { path } });
    await navigate({ to: '/projects/$projectId/campaigns', params: { projectId } });
    await refresh();
  };
  const next = isOver(campaign) ? undefined : NEXT[status as keyof typeof NEXT];
  return (
    <>
      {next && (
        // A disabled button would lose the focus, which is for the next step.
        <Button
          aria-busy={change.isPending}
          onClick={() => !change.isPending && change.mutate({ transition: next, total: counts.total })}
        >
          {texts[next]}
        </Button>
      )}
      {!isOver(campaign) && (
        <ConfirmButton size="sm" question={texts.cancelQuestion} action={cancel}>
          {texts.cancel}
        </ConfirmButton>
      )}
      {status !== 'running' && (
        <ConfirmButton size="sm" question={texts.removeQuestion(name)} action={remove}>
          {texts.remove}
        </ConfirmButton>
      )}
      {/* A start that was refused for want of contacts is past once there are some. */}
      {change.error && change.variables.total === counts.total && (
        <Text c="var(--mantine-color-error)" role="alert" w="100%">
          {reasonOf(change.error)}
        </Text>
      )}
    </>
  );
}

/** The details of a start that is refused say all of it. */
function reasonOf(error: Error): string {
  const details = error instanceof ApiError ? error.details : [];
  return details.length > 0 ? details.map(({ message }) => message).join(SEMICOLON) : error.message;
}
