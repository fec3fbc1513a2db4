import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { compareRows } from '../support/compare/compareChains.js'
import { compareServers } from '../support/compare/compareServers.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilValue } from '../support/until.js'

/* `cairn snapshot create` beside a server that follows another Cairn, which imports the bundled chain block by
 * block. */

interface Listed {
  readonly name: string
  readonly head: { readonly number: number; readonly hash: string }
}

test('snapshots beside a server that follows are whole chains of one commit, and a restored one resumes', async (t) => {
  const [theirs, datadir] = [temporaryDirectory(t), temporaryDirectory(t)]
  const place = join(temporaryDirectory(t), 'snapshots')
  const genesis = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
  await runCairnOk(['import', '--datadir', theirs, ...fixtureBlockByBlock(t).slice(0, 4)])
  const upstream = await startCairn(t, ['--datadir', theirs, '--open'])
  const follow = ['--open', '--upstream', upstream.url, ...genesis]
  const server = await startCairn(t, ['--datadir', datadir, ...follow])
  const headOf = async ({ url }: { url: string }) => Number(await resultOf(url, 'eth_blockNumber', []))
  await until(async () => (await headOf(server)) > 0)
  const importing = spawnCairn(['import', '--datadir', theirs, ...fixtureBlockByBlock(t)])
  for (let newest = 0; newest < HEAD; ) {
    const earlier = newest
    newest = await untilValue(
      () => headOf(server),
      (head) => head > earlier,
    )
    const { code, stderr } = await runCairn(['snapshot', 'create', place, '--datadir', datadir])
    if (code === 1 && / has a snapshot \d+-[0-9a-f]{8} already/.test(stderr)) continue // no block came meanwhile
    assert.equal(code, 0, stderr)
  }
  assert.equal((await importing.ended).code, 0)
  const listed = JSON.parse(await runCairnOk(['snapshot', 'list', place, '--json'])) as Listed[]
  assert.equal(listed[0].head.number, HEAD)
  assert.ok(listed.length > 1, 'a snapshot was made while blocks came')
  for (const { name, head } of THOROUGH ? listed : [listed[0], listed.at(-1)!]) {
    const restored = temporaryDirectory(t)
    await runCairnOk(['snapshot', 'restore', place, name, '--datadir', restored])
    await runCairnOk(['verify', '--datadir', restored])
    const { number, hash } = checkDatabase(restored)!
    assert.deepEqual({ number, hash }, head)
    if (head.number === HEAD) compareRows(restored, theirs, name)
    if (name !== listed.at(-1)!.name) continue
    const again = await startCairn(t, ['--datadir', restored, ...follow])
    await until(async () => (await headOf(again)) === HEAD)
    await compareServers(upstream, again, theirs)
    await again.stop()
    compareRows(restored, theirs, `${name}, and what followed`)
  }
})
