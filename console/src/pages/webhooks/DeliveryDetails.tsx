import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { withoutBidiControls } from '../../api/bidiControls.ts';
import { bodyOf } from '../../api/client.ts';
import { deliveryErrorText } from '../../codes/codeText.ts';
import { FormError } from '../../components/FormError.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import styles from './DeliveryDetails.module.css';
import type { Delivery } from './deliveries.ts';

const texts = textsIn({
  en: {
    to: 'To',
    id: 'webhook-id',
    session: 'Session',
    answered: (status: number) => `The receiver answered ${status}.`,
    answer: 'Answer',
    body: 'Body',
    loading: 'The body is loading',
    notKept: 'The body is not kept.',
    redeliver: 'Send again',
    queued: 'It is sent again',
  },
  'zh-TW': {
    to: '網址',
    id: 'webhook-id',
    session: '工作階段',
    answered: (status: number) => `接收端回應 ${status}。`,
    answer: '回應內容',
    body: '內容',
    loading: '正在載入內容',
    notKept: '內容未保留。',
    redeliver: '再次傳送',
    queued: '將再次傳送',
  },
});

interface DetailsProps {
  projectId: string;
  delivery: Delivery;
}

/** What was sent, and what the receiver made of it. */
export function DeliveryDetails({ projectId, delivery }: DetailsProps) {
  const { deliveryId, url, sessionId, status, error, answer } = delivery;
  const api = useApi();
  const { data, error: problem } = useQuery({
    queryKey: ['webhook-delivery', deliveryId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/webhook-deliveries/{deliveryId}', {
          params: { path: { projectId, deliveryId } },
        }),
      ),
  });
  return (
    <Stack gap="xs">
      <dl className={styles.facts}>
        <dt>{texts.to}</dt>
        <dd>{url}</dd>
        <dt>{texts.id}</dt>
        <dd>{deliveryId}</dd>
        {sessionId !== null && (
          <>
            <dt>{texts.session}</dt>
            <dd>{sessionId}</dd>
          </>
        )}
      </dl>
      {error ? (
        <Text size="sm" c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {deliveryErrorText(error)}
        </Text>
      ) : (
        status !== null && <Text size="sm">{texts.answered(status)}</Text>
      )}
      {answer !== null && (
        <>
          <Text size="sm" fw={600}>
            {texts.answer}
          </Text>
          <Body text={answer} />
        </>
      )}
      <Text size="sm" fw={600}>
        {texts.body}
      </Text>
      {problem && !data && <Text size="sm">{problem.message}</Text>}
      {!data && !problem && <Loader size="sm" aria-label={texts.loading} />}
      {data && (data.body === null ? texts.notKept : <Body text={data.body} />)}
      <Redeliver projectId={projectId} delivery={delivery} />
    </Stack>
  );
}

function Body({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and is scrolled by keys
    <pre className={styles.body} tabIndex={0}>
      {readable(text)}
    </pre>
  );
}

/** Indented where it is JSON. */
function readable(text: string): string {
  try {
    return withoutBidiControls(JSON.stringify(JSON.parse(text), undefined, 2));
  } catch {
    return text;
  }
}

function Redeliver({ projectId, delivery: { deliveryId } }: DetailsProps) {
  const api = useApi();
  const queries = useQueryClient();
  const mayWrite = useScope('write');
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/webhook-deliveries/{deliveryId}/redeliver', {
          params: { path: { projectId, deliveryId } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhook-deliveries', projectId] }),
  });
  if (!mayWrite) return null;
  return (
    <Group>
      <Button variant="default" onClick={() => mutate()} loading={isPending}>
        {texts.redeliver}
      </Button>
      {isSuccess && (
        <Text size="sm" role="status">
          {texts.queued}
        </Text>
      )}
      <FormError error={error} />
    </Group>
  );
}
