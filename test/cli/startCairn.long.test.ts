import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { runCairnOk, spawnNode } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import * as fixture from '../support/chains/fixtureChain.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `startCairn` as the package exports it. */

const MODULE = pathToFileURL(packagePath('dist/cli/startCairn.js')).href
const { startCairn } = (await import(MODULE)) as typeof import('../../src/cli/startCairn.js')
const ENV = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }
const HEAD = `0x${fixture.HEAD.toString(16)}`

/** True while there is a process of that id. */
function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function untilEnded(pid: number): Promise<void> {
  while (runs(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('starts the bundled chain and a fixture side by side, and leaves nothing behind', async (t) => {
  const env = { ...ENV, TMPDIR: temporaryDirectory(t) }
  const servers = await Promise.all([startCairn({ env }), startCairn({ env, fixture: FIXTURE_FOLDER })])
  assert.equal(readdirSync(env.TMPDIR).length, 2)
  assert.notEqual(servers[0].url, servers[1].url)
  for (const { url, wsUrl, apiKey } of servers) {
    assert.equal(await resultOf(url, 'eth_blockNumber'), HEAD)
    assert.match(wsUrl, /^ws:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(apiKey, undefined)
  }
  await Promise.all(servers.flatMap(({ stop }) => [stop(), stop()]))
  for (const { pid } of servers) assert.ok(!runs(pid))
  assert.deepEqual(readdirSync(env.TMPDIR), [])
})

test('serves a database with an API key of its own, which is revoked at the end', async (t) => {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, FIXTURE_FOLDER])
  const server = await startCairn({ datadir, open: false, env: ENV })
  t.after(server.stop)
  assert.equal(await resultOf(server.url, 'eth_blockNumber'), HEAD)
  assert.equal(server.url, `${new URL(server.url).origin}/v3/${server.apiKey}`)
  assert.match(server.wsUrl, new RegExp(`/ws/v3/${server.apiKey}$`))
  const { error } = await ask(`${new URL(server.url).origin}/v3/other`, 'eth_blockNumber')
  assert.equal(error?.code, -32002)
  await server[Symbol.asyncDispose]()
  assert.match(await runCairnOk(['keys', 'list', '--datadir', datadir]), /startCairn-\w+ +\S+Z +\S+Z\n/)
})

test("a failed start says why in Cairn's words", async (t) => {
  const missing = join(temporaryDirectory(t), 'none')
  await assert.rejects(startCairn({ fixture: missing }), {
    name: 'CairnFailed',
    message: `--fixture: no such directory: ${missing}`,
    exitCode: 2,
  })
  const broken = join(temporaryDirectory(t), 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'genesis.json'), '{"config":{},"gasLimit":"much"}')
  await assert.rejects(startCairn({ fixture: broken }), { message: /genesis\.json: gasLimit: expected a non-negative/ })
  await assert.rejects(startCairn({ fixture: 'a', datadir: 'b' }), TypeError)
  await assert.rejects(startCairn({ open: false }), TypeError)
  await assert.rejects(startCairn({ signal: AbortSignal.abort(new Error('given up')) }), { message: 'given up' })
})

test('an aborted start ends its server', async (t) => {
  const env = { ...ENV, TMPDIR: temporaryDirectory(t) }
  const controller = new AbortController()
  const starting = startCairn({ env, signal: controller.signal })
  controller.abort(new Error('given up'))
  await assert.rejects(starting, { message: 'given up' })
  assert.deepEqual(readdirSync(env.TMPDIR), [])
})

/** A process that starts a server, prints its id and does what `then` says. */
function spawnParent(then: string, tmpdir: string) {
  const code = `import { startCairn } from ${JSON.stringify(MODULE)}
    const { pid } = await startCairn({ env: ${JSON.stringify(ENV)} })
    console.log('started', pid)
    ${then}`
  return spawnNode(['--input-type=module', '--eval', code], { TMPDIR: tmpdir })
}

test('a server ends with the process that started it, killed or at its end', async (t) => {
  const tmpdir = temporaryDirectory(t)
  const left = spawnParent('', tmpdir) // nothing else keeps it alive
  const killed = spawnParent('setInterval(() => {}, 1000)', tmpdir)
  const [[, first], [, second]] = await Promise.all(
    [left, killed].map(({ waitFor }) => waitFor('stdout', /started (\d+)/)),
  )
  killed.child.kill('SIGKILL')
  assert.equal((await left.ended).code, 0)
  await Promise.all([first, second].map((pid) => untilEnded(Number(pid))))
  assert.ok(existsSync(tmpdir))
  assert.deepEqual(readdirSync(tmpdir), [])
})
