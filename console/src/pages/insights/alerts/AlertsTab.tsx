import { Badge, Button, Group, Loader, Modal, Table, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { codeText } from '../../../codes/codeText.ts';
import { ConfirmButton } from '../../../components/ConfirmButton.tsx';
import { DataTable } from '../../../components/DataTable.tsx';
import { Section } from '../../../components/Section.tsx';
import { formatDateTime } from '../../../formats.ts';
import { ErrorPage } from '../../../layout/ErrorPage.tsx';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import { useFilterText } from '../../sessions/SessionFilterFields.tsx';
import { readSessionFilters } from '../../sessions/sessionFilters.ts';
import { formatMetric } from '../insightData.ts';
import { AlertForm } from './AlertForm.tsx';
import { type Alert, conditionText, useAlerts } from './alertData.ts';

const texts = textsIn({
  en: {
    title: 'Alerts',
    about:
      'A metric that is looked at once a minute. When it is beyond its bound, the start page, a live event and your webhook tell it.',
    none: 'No alert yet. Make one for what must not happen unseen: success below 80 % within an hour, for example, or a latency above 3 s.',
    create: 'Create an alert',
    edit: 'Edit',
    remove: 'Delete',
    question: (name: string) => `Delete the alert ${name}?`,
    of: (action: string, name: string) => `${action} ${name}`,
    name: 'Name',
    when: 'Fires when',
    state: 'State',
    last: 'Last value',
    off: 'Off',
    since: (at: string) => `since ${at}`,
  },
  'zh-TW': {
    title: '警示',
    about: '每分鐘檢查一次指標。超出界限時，首頁、即時事件與您的 webhook 都會通知。',
    none: '尚無警示。請為不可忽視的狀況建立，例如一小時內成功率低於 80%，或延遲高於 3 秒。',
    create: '建立警示',
    edit: '編輯',
    remove: '刪除',
    question: (name: string) => `要刪除警示 ${name} 嗎？`,
    of: (action: string, name: string) => `${action} ${name}`,
    name: '名稱',
    when: '觸發條件',
    state: '狀態',
    last: '最近數值',
    off: '停用',
    since: (at: string) => `自 ${at}`,
  },
});

/** The alerts of a project, with their state. */
export function AlertsTab({ projectId }: { projectId: string }) {
  const mayWrite = useScope('write');
  // An alert that is edited; null for a new one.
  const [edited, setEdited] = useState<Alert | null>();
  const { data: alerts, error } = useAlerts(projectId);
  if (!alerts) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.title} />;
  const close = () => setEdited(undefined);
  return (
    <Section
      title={texts.title}
      description={texts.about}
      actions={mayWrite && <Button onClick={() => setEdited(null)}>{texts.create}</Button>}
    >
      {alerts.length === 0 ? (
        <Text>{texts.none}</Text>
      ) : (
        <DataTable
          headings={[texts.name, texts.when, texts.state, texts.last, mayWrite && '']}
          minWidth={560}
        >
          {alerts.map((alert) => (
            <Row key={alert.id} {...{ projectId, alert, mayWrite }} onEdit={() => setEdited(alert)} />
          ))}
        </DataTable>
      )}
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited ? texts.of(texts.edit, edited.name) : texts.create}
      >
        {edited !== undefined && <AlertForm projectId={projectId} alert={edited} onSaved={close} />}
      </Modal>
    </Section>
  );
}

interface RowProps {
  readonly projectId: string;
  readonly alert: Alert;
  readonly mayWrite: boolean;
  onEdit(): void;
}

function Row({ projectId, alert, mayWrite, onEdit }: RowProps) {
  const api = useApi();
  const queries = useQueryClient();
  const filterText = useFilterText(projectId);
  const { id, name, metric, enabled, state, since, lastValue } = alert;
  const remove = async () => {
    const path = { projectId, alertId: id };
    await api.DELETE('/v1/projects/{projectId}/alerts/{alertId}', { params: { path } });
    await queries.invalidateQueries({ queryKey: ['alerts', projectId] });
  };
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{name}</Table.Td>
      <Table.Td>
        {conditionText(alert)}
        <Text size="xs" c="dimmed">
          {filterText(readSessionFilters(alert.filter))}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={!enabled ? 'gray' : state === 'firing' ? 'red' : 'green'}>
          {enabled ? codeText('alertState', state) : texts.off}
        </Badge>
        {enabled && (
          <Text size="xs" c="dimmed">
            {texts.since(formatDateTime(since))}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{lastValue === null ? '–' : formatMetric(metric, lastValue, undefined)}</Table.Td>
      {mayWrite && (
        <Table.Td>
          <Group gap="xs" wrap="nowrap" justify="flex-end">
            <Button variant="default" size="xs" aria-label={texts.of(texts.edit, name)} onClick={onEdit}>
              {texts.edit}
            </Button>
            <ConfirmButton
              question={texts.question(name)}
              action={remove}
              aria-label={texts.of(texts.remove, name)}
            >
              {texts.remove}
            </ConfirmButton>
          </Group>
        </Table.Td>
      )}
    </Table.Tr>
  );
}
