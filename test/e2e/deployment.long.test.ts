import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listOptions } from '../../src/cli/config.js'
import { envName } from '../../src/cli/options/option.js'
import { packagePath } from '../../src/store/open.js'
import { serveFixture, spawnProgram, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { freePort } from '../support/freePort.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The files of `deploy/`, against the program that they run and watch. */

const read = (name: string) => readFileSync(packagePath(`deploy/${name}`), 'utf8')

/** Runs a checker on a file of `deploy/`; undefined where it is not installed. */
function check(program: string, ...args: string[]): { status: number | null; output: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return error === undefined ? { status, output: stdout + stderr } : undefined
}

test('alerts and dashboard use metrics that a following server has', async (t) => {
  const upstream = await serveFixture(t)
  const args = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json'), '--upstream', upstream.url, '--open', '--metrics']
  const server = await startCairn(t, ['--datadir', temporaryDirectory(t), ...args])
  const page = await (await fetch(`${server.url}/metrics`)).text()
  const served = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  for (const file of ['prometheus/alerts.yml', 'grafana/cairn.json']) {
    const used = new Set(read(file).match(/\b(cairn|nodejs|process)_[a-z0-9_]+/g))
    assert.ok(used.size > 10, file)
    for (const name of used) {
      // Layer 2 has the metrics of layer 1 under its own prefix.
      const base = name.replace(/_bucket$/, '').replace(/^cairn_l2_follow/, 'cairn_follow')
      assert.ok(served.has(base), `${file}: ${name}`)
    }
  }
})

test('the dashboard is one that Grafana loads: panels with ids and places of their own', () => {
  const { panels, templating } = JSON.parse(read('grafana/cairn.json')) as {
    panels: { id: number; title: string; gridPos: { x: number; y: number; w: number }; targets: { expr: string }[] }[]
    templating: { list: { name: string }[] }
  }
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  assert.equal(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size, panels.length)
  const variables = templating.list.map(({ name }) => `$${name}`)
  for (const { title, gridPos, targets } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    for (const { expr } of targets) {
      const unknown = expr.match(/\$\w+/g)?.filter((name) => ![...variables, '$__rate_interval'].includes(name))
      assert.deepEqual(unknown, [], title)
    }
  }
})

test('settings in the unit and in the image are options of the program', () => {
  const known = new Set(listOptions().map(([, option]) => envName(option)))
  const roles = ['writer', 'standby', 'replica'].map((role) => `scaling/systemd/${role}.conf`)
  for (const file of ['systemd/cairn.service', 'Dockerfile', ...roles]) {
    const used = read(file).match(/\bCAIRN_[A-Z_]+(?==)/g) ?? []
    assert.ok(used.length > 0, file)
    for (const name of used) assert.ok(known.has(name), `${file}: ${name}`)
  }
})

test('the image is made of files that are there', () => {
  for (const [, sources] of read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources.split(' ')) assert.ok(existsSync(packagePath(source)), source)
  }
})

test('systemd accepts the unit', (t) => {
  const result = check('systemd-analyze', 'verify', packagePath('deploy/systemd/cairn.service'))
  if (result === undefined) return t.skip('systemd-analyze is not installed')
  assert.deepEqual(result, { status: 0, output: '' })
})

test('Prometheus accepts its configuration and the rules', (t) => {
  const result = check('promtool', 'check', 'config', packagePath('deploy/prometheus/prometheus.yml'))
  if (result === undefined) return t.skip('promtool is not installed')
  assert.equal(result.status, 0, result.output)
  assert.match(result.output, /19 rules found/)
})

test('Prometheus scrapes a server, answers a query of its series and evaluates the rules', async (t) => {
  if (check('prometheus', '--version') === undefined) return t.skip('prometheus is not installed')
  const server = await serveFixture(t, ['--metrics'])
  const folder = temporaryDirectory(t)
  const config = read('prometheus/prometheus.yml')
    .replace('127.0.0.1:9545', new URL(server.url).host)
    .replace('scrape_interval: 15s', 'scrape_interval: 200ms\n  scrape_timeout: 200ms\n  evaluation_interval: 200ms')
    .replace('alerts.yml', packagePath('deploy/prometheus/alerts.yml'))
  writeFileSync(join(folder, 'prometheus.yml'), config)
  const address = `127.0.0.1:${await freePort()}`
  const { child, waitFor, ended } = spawnProgram('prometheus', [
    ...[`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`],
    `--web.listen-address=${address}`,
  ])
  t.after(async () => {
    child.kill()
    await ended
  })
  await waitFor('stderr', /Server is ready to receive web requests/)
  const ask = async <T extends { data: unknown }>(path: string): Promise<T['data']> =>
    ((await (await fetch(`http://${address}/api/v1/${path}`)).json()) as T).data
  type Query = { data: { result: { metric: { job: string }; value: [number, string] }[] } }
  let found = (await ask<Query>('query?query=cairn_head_block_number')).result
  while (found.length === 0) found = (await ask<Query>('query?query=cairn_head_block_number')).result
  assert.deepEqual([found[0].metric.job, found[0].value[1]], ['cairn', '74'])
  type Rules = { data: { groups: { rules: { name: string; health: string }[] }[] } }
  const rules = async () => (await ask<Rules>('rules')).groups.flatMap((group) => group.rules)
  while ((await rules()).some(({ health }) => health === 'unknown'));
  assert.deepEqual(new Set((await rules()).map(({ health }) => health)), new Set(['ok']))
})
