import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { settings } from '../../src/app/settings/settings.ts';

const folder = new URL('../../docker/kubernetes/', import.meta.url);
const files = readdirSync(folder).sort();
// biome-ignore lint/suspicious/noExplicitAny: manifests of several kinds
const manifests: any[] = files.flatMap((file) =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  }),
);
const ROLES = ['api', 'media', 'voice', 'worker'];
const of = (kind: string, name: string) => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};
/** Workers hand over everything at once; the others keep a volume until it is handed over. */
const kindOf = (role: string) => (role === 'worker' ? 'Deployment' : 'StatefulSet');
const workloadOf = (role: string) => of(kindOf(role), `callway-${role}`);
const podOf = (role: string) => workloadOf(role).spec.template;
const containerOf = (role: string) => podOf(role).spec.containers[0];
const drainSeconds = Number(of('ConfigMap', 'callway').data.DRAIN_SECONDS);

describe.each(ROLES)('the role %s', (role) => {
  test('is set on its pods, and its budget and autoscaler select these pods', () => {
    const { spec } = workloadOf(role);
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(containerOf(role).env[0]).toEqual({ name: 'ROLES', value: role });
    expect(of('PodDisruptionBudget', `callway-${role}`).spec.selector).toEqual(spec.selector);
    expect(of('HorizontalPodAutoscaler', `callway-${role}`).spec.scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: kindOf(role),
      name: `callway-${role}`,
    });
  });

  test('gets settings that exist', () => {
    const known = [...Object.keys(settings.shape), 'POD_IP'];
    const given = [
      ...containerOf(role).env.map(({ name }: { name: string }) => name),
      ...Object.keys(of('ConfigMap', 'callway').data),
    ];
    expect(given.filter((name: string) => !known.includes(name))).toEqual([]);
  });

  test('has time to drain, and liveness and readiness probes', () => {
    const { terminationGracePeriodSeconds } = podOf(role).spec;
    const { startupProbe, livenessProbe, readinessProbe, lifecycle, ports } = containerOf(role);
    const [, , script] = lifecycle.preStop.exec.command;
    const preStopSeconds = Number(/, (\d+)\)$/.exec(script)?.[1]) / 1000;
    expect(preStopSeconds).toBe(5);
    // The process itself ends remaining calls ten seconds after the drain time.
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + preStopSeconds + 10);
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    expect(ports).toContainEqual({ name: 'http', containerPort: 3000 });
  });

  test('runs without unneeded privileges', () => {
    expectConfined(podOf(role).spec);
  });
});

test('voice nodes register their URL, and media nodes are reachable by carriers', () => {
  expect(containerOf('voice').env).toContainEqual({ name: 'NODE_URL', value: 'http://$(POD_IP):3000' });
  expect(podOf('media').spec.hostNetwork).toBe(true);
  expect(containerOf('media').env.map(({ name }: { name: string }) => name)).toContain('PUBLIC_IP');
});

test('each manifest conforms to the schema of the Kubernetes API', async () => {
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest;
    const { [kind]: Model } = await import(`kubernetes-models/${apiVersion}/${kind}`);
    expect(() => new Model(manifest).validate()).not.toThrow();
  }
});

test('the SIP server is configured as in the compose file, and reached by its service', () => {
  const file = new URL('../../docker/drachtio/drachtio.conf.xml', import.meta.url);
  expect(of('ConfigMap', 'drachtio').data['drachtio.conf.xml']).toBe(readFileSync(file, 'utf8'));
  expect(of('Service', 'drachtio').spec.ports).toEqual([
    { name: 'control', port: 9022, targetPort: 'control' },
  ]);
  expectConfined(of('Deployment', 'drachtio').spec.template.spec);
  expectConfined(of('Job', 'callway-migrate').spec.template.spec);
});

test('the ingress sends audio WebSockets to voice nodes and everything else to the API', () => {
  const [{ http }] = of('Ingress', 'callway').spec.rules;
  const routes = http.paths.map(
    ({ path, backend }: { path: string; backend: { service: { name: string } } }) => [
      path,
      backend.service.name,
    ],
  );
  expect(routes).toEqual([
    ['/v1/media-streams', 'callway-voice'],
    ['/', 'callway-api'],
  ]);
  for (const [, name] of routes) expect(of('Service', name).spec.ports[0].name).toBe('http');
});

test('only Prometheus reaches the metrics, on a port of their own', () => {
  const port = Number(of('ConfigMap', 'callway').data.METRICS_PORT);
  for (const role of ROLES) {
    expect(containerOf(role).ports).toContainEqual({ name: 'metrics', containerPort: port });
    expect(podOf(role).metadata.annotations['prometheus.io/port']).toBe(String(port));
  }
  const { ingress, podSelector } = of('NetworkPolicy', 'callway').spec;
  expect(podSelector.matchLabels).toEqual({ app: 'callway' });
  const sources = ingress.filter(({ ports }: { ports: { port: string }[] }) =>
    ports.some((one) => one.port === 'metrics'),
  );
  expect(sources).toEqual([
    {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ port: 'metrics' }],
    },
  ]);
  expect(containerOf('media').env).toContainEqual({
    name: 'HOST',
    valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } },
  });
});

test('no manifest contains a secret', () => {
  expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
  for (const role of ROLES)
    expect(containerOf(role).envFrom).toContainEqual({ secretRef: { name: 'callway' } });
});

// biome-ignore lint/suspicious/noExplicitAny: a pod's specification
function expectConfined(spec: any): void {
  expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  for (const { securityContext } of spec.containers)
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
}
