import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { listOptions } from '../../src/cli/config.js'
import { envName } from '../../src/cli/options/option.js'
import { packagePath } from '../../src/store/open.js'
import { type CairnServer, serveFixture, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { freePort } from '../support/freePort.js'
import { installPackage } from '../support/npmPackage.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `deploy/compose.yml` and `deploy/kubernetes/cairn.yaml`: their form, and their health checks against a server with
 * the settings of the containers. */

interface Compose {
  services: { [name: string]: Service }
  configs: { [name: string]: { content: string } }
}

interface Service {
  command?: string[]
  environment?: { [name: string]: string }
  healthcheck: { test: string[] }
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface Container {
  args: string[]
  env: { name: string; value?: string }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
}

interface StatefulSet {
  kind: string
  spec: { template: { spec: { containers: Container[] } } }
}

interface Yaml {
  parseAllDocuments(text: string): { toJS(): unknown }[]
}

type Model = new (value: object) => { validate(): void }

const COMPOSE = packagePath('deploy/compose.yml')
const KUBERNETES = packagePath('deploy/kubernetes/cairn.yaml')
/** Port of metrics and health in the image. */
const METRICS_PORT = 9545

const yamlFolder = installPackage('yaml', '2.9.1')
const modelsFolder = installPackage('kubernetes-models', '5.1.0')
const withYaml = { skip: yamlFolder === undefined && 'yaml cannot be installed' }

async function readYaml(path: string): Promise<unknown[]> {
  const { parseAllDocuments } = (await import(pathToFileURL(`${yamlFolder}/dist/index.js`).href)) as Yaml
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS())
}

async function readCompose(): Promise<Compose> {
  const [compose] = (await readYaml(COMPOSE)) as [Compose]
  return compose
}

async function readContainer(): Promise<Container> {
  const documents = (await readYaml(KUBERNETES)) as StatefulSet[]
  return documents.find(({ kind }) => kind === 'StatefulSet')!.spec.template.spec.containers[0]
}

/** Environment that the image sets. */
function imageEnvironment(): { [name: string]: string } {
  const [, line] = /^ENV (.*)$/m.exec(readFileSync(packagePath('deploy/Dockerfile'), 'utf8'))!
  return Object.fromEntries(line.split(' ').map((pair) => pair.split('=') as [string, string]))
}

/** Starts what a container runs, with ports, chain and data directory of this test, following a server of the bundled
 *  chain. */
async function startContainer(
  t: TestContext,
  command: readonly string[],
  environment: { [name: string]: string },
): Promise<{ server: CairnServer; metricsPort: number }> {
  assert.deepEqual(command, ['serve'])
  const upstream = await serveFixture(t)
  const metricsPort = await freePort()
  const { CAIRN_NETWORK, ...settings } = { ...imageEnvironment(), ...environment }
  assert.equal(settings.CAIRN_METRICS_PORT, String(METRICS_PORT))
  const server = await startCairn(t, ['--open'], {
    ...settings,
    CAIRN_GENESIS: join(FIXTURE_FOLDER, 'genesis.json'),
    CAIRN_STATE: 'execute',
    CAIRN_UPSTREAM: upstream.url,
    CAIRN_DATADIR: temporaryDirectory(t),
    CAIRN_METRICS_PORT: String(metricsPort),
  })
  return { server, metricsPort }
}

test('settings of both are options of cairn serve', withYaml, async () => {
  const { services } = await readCompose()
  const { env } = await readContainer()
  const known = new Set(
    listOptions().flatMap(([, option]) => (option.commands.includes('serve') ? [envName(option)] : [])),
  )
  for (const names of [Object.keys(services.cairn.environment!), env.map(({ name }) => name)]) {
    assert.ok(names.length >= 3)
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    )
  }
})

test('docker compose accepts the file, and asks for an upstream', (t) => {
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync('docker', ['compose', '-f', COMPOSE, 'config', '--quiet'], { encoding: 'utf8', env })
  const { CAIRN_UPSTREAM, ...without } = process.env
  if (spawnSync('docker', ['compose', 'version']).status !== 0) return t.skip('docker compose is not installed')
  const accepted = run({ ...without, CAIRN_UPSTREAM: 'http://127.0.0.1:8545' })
  assert.equal(accepted.status, 0, accepted.stderr)
  assert.match(run(without).stderr, /CAIRN_UPSTREAM.*the URL of a node to follow/)
})

test(
  'the health check of the compose file succeeds while a server is ready, and fails after it',
  withYaml,
  async (t) => {
    const { command, environment, healthcheck } = (await readCompose()).services.cairn
    // Compose replaces variables of its own.
    const settings = Object.fromEntries(
      Object.entries(environment!).map(([name, value]) => [name, value.replace(/^\$\{\w+:[-?](.*)\}$/, '$1')]),
    )
    const { server, metricsPort } = await startContainer(t, command!, settings)
    const [kind, program, ...args] = healthcheck.test
    assert.deepEqual([kind, program], ['CMD', 'node'])
    const check = () => {
      const moved = args.map((arg) => arg.replace(`:${METRICS_PORT}/`, `:${metricsPort}/`))
      assert.notDeepEqual(moved, args)
      return spawnSync(process.execPath, moved).status
    }
    while (check() !== 0) assert.equal(server.running.child.exitCode, null)
    await server.stop()
    assert.equal(check(), 1)
  },
)

test('the image has the health check of the compose file', withYaml, async () => {
  const { healthcheck } = (await readCompose()).services.cairn
  const program = healthcheck.test.at(-1)!
  assert.ok(readFileSync(packagePath('deploy/Dockerfile'), 'utf8').includes(`CMD node -e "${program}"`))
})

test('promtool accepts the configuration of Prometheus in the compose file', withYaml, async (t) => {
  if (spawnSync('promtool', ['--version']).error !== undefined) return t.skip('promtool is not installed')
  const { configs } = await readCompose()
  const folder = temporaryDirectory(t)
  writeFileSync(join(folder, 'prometheus.yml'), configs.prometheus.content)
  writeFileSync(join(folder, 'alerts.yml'), readFileSync(packagePath('deploy/prometheus/alerts.yml')))
  const { status, stderr } = spawnSync('promtool', ['check', 'config', join(folder, 'prometheus.yml')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
})

test('objects of the Kubernetes manifest have the form of their kinds', {
  skip: (yamlFolder === undefined || modelsFolder === undefined) && 'kubernetes-models cannot be installed',
}, async () => {
  const models = async (group: string) =>
    (await import(pathToFileURL(`${modelsFolder}/${group}/index.js`).href)) as { [kind: string]: Model }
  const known = { ...(await models('v1')), ...(await models('apps/v1')) }
  const documents = (await readYaml(KUBERNETES)) as StatefulSet[]
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ['Service', 'StatefulSet'],
  )
  for (const document of documents) new known[document.kind](document).validate()
  const [, broken] = documents
  broken.spec.template.spec.containers = 'none' as unknown as []
  assert.throws(() => new known.StatefulSet(broken).validate(), /containers/)
})

test('a server with the settings of the Kubernetes manifest answers its probes', withYaml, async (t) => {
  const container = await readContainer()
  const settings = Object.fromEntries(container.env.map(({ name, value }) => [name, value ?? '']))
  const { metricsPort } = await startContainer(t, container.args, settings)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
    const { path, port } = container[probe].httpGet
    assert.equal(container.ports.find(({ name }) => name === port)?.containerPort, METRICS_PORT)
    let status = 0
    while (status !== 200) status = (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).status
  }
})
