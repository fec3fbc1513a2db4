import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD, TOKEN } from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'

/* What replicas must have in common so that a client may ask any of them. */

interface Page {
  readonly logs: readonly unknown[]
  readonly cursor: string | null
}

/** A writer of the bundled chain, and replicas of it over HTTP that have all blocks, each with its own options. */
async function startReplicas(t: TestContext, options: readonly (readonly string[])[]) {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const few = ['--scan-threads', '1', '--evm-threads', '1']
  const writer = await startCairn(t, ['--datadir', datadir, '--open', '--replication', ...few])
  const genesis = join(FIXTURE_FOLDER, 'genesis.json')
  const replicas = await Promise.all(
    options.map(async (own) => {
      const folder = temporaryDirectory(t)
      const args = ['--datadir', folder, '--genesis', genesis, '--replica', writer.url, ...few, ...own]
      return { datadir: folder, ...(await startCairn(t, args)) }
    }),
  )
  for (const { url } of replicas) await until(async () => (await fetch(`${url}/ready`)).status === 200)
  return replicas
}

const filter = { address: TOKEN, fromBlock: '0x0', toBlock: `0x${HEAD.toString(16)}` }

test('replicas count keys that were exported from one of them, and give the pages of a log query in turn', async (t) => {
  const path = join(temporaryDirectory(t), 'cursor.secret')
  writeFileSync(path, `${'5c'.repeat(32)}\n`)
  const shared = ['--cursor-secret-file', path]
  const [first, second, other] = await startReplicas(t, [shared, shared, []])
  const keys = (datadir: string, ...args: string[]) => runCairnOk(['keys', ...args, '--datadir', datadir])
  const key = (await keys(first.datadir, 'create', 'client', '--methods', 'eth_*')).trim()
  const keyed = ({ url }: { url: string }) => `${url}/v3/${key}`
  const answer = async (replica: { url: string }, method = 'eth_chainId') => {
    const { result, error } = await ask(keyed(replica), method)
    return result ?? error!.message
  }
  const file = join(temporaryDirectory(t), 'keys.json')
  const transfer = async (to: { datadir: string }) => {
    writeFileSync(file, await keys(first.datadir, 'export'))
    return (await keys(to.datadir, 'import', file)).trim()
  }
  assert.equal(await answer(second), 'invalid API key')
  assert.equal(await transfer(second), 'keys: 1 added, 0 changed, 0 unchanged')
  assert.equal(await answer(second), await answer(first))
  assert.equal(await answer(second), '0x4f25')
  assert.match(String(await answer(second, 'net_version')), /not allowed|may not/)
  assert.equal(await answer(second, 'net_version'), await answer(first, 'net_version'))

  await transfer(other)
  await checkPages([first, second, other].map(keyed))

  await keys(first.datadir, 'revoke', 'client')
  assert.equal(await transfer(second), 'keys: 0 added, 1 changed, 0 unchanged')
  assert.equal(await answer(second), 'invalid API key')
})

/** Replicas with one secret give the pages of a log query in turn; the last one, without it, refuses a cursor. */
async function checkPages([a, b, other]: readonly string[]): Promise<void> {
  for (const url of [a, b, other]) {
    await until(async () => Number(await resultOf(url, 'eth_blockNumber', [])) === HEAD)
  }
  const pagesOf = async (urls: readonly string[]): Promise<Page[]> => {
    const pages: Page[] = []
    for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
      const url = urls[pages.length % urls.length]
      const page: Page = await resultOf<Page>(url, 'eth_getLogsWithCursor', [filter, cursor, 1])
      pages.push(page)
      cursor = page.cursor
    }
    return pages
  }
  const pages = await pagesOf([a, b])
  assert.ok(pages.length > 4)
  assert.deepEqual(pages, await pagesOf([a]))
  assert.deepEqual(
    pages.flatMap(({ logs }) => logs),
    await resultOf(other, 'eth_getLogs', [filter]),
  )
  const { error } = await ask(other, 'eth_getLogsWithCursor', [filter, pages[0].cursor, 1])
  assert.match(error!.message, /cursor: was altered, or given by another database/)
}

test('a secret of cursors that is missing or short ends the start, and is not shown', async (t) => {
  const folder = temporaryDirectory(t)
  const path = join(folder, 'cursor.secret')
  writeFileSync(path, 'too short')
  const serve = ['serve', '--datadir', folder, '--port', '0']
  const short = await runCairn(serve, { CAIRN_CURSOR_SECRET_FILE: path })
  assert.equal(short.code, 2)
  assert.match(short.stderr, /--cursor-secret-file \S+: expected at least 32 bytes, got 9/)
  assert.doesNotMatch(short.stderr + short.stdout, /too short/)
  const missing = await runCairn([...serve, '--cursor-secret-file', join(folder, 'none')])
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /--cursor-secret-file \S+none: ENOENT/)
})
