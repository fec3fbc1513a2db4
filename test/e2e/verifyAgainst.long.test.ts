import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { encodeUint } from '../../src/store/columns.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { readBaseKeys } from '../../src/store/state/baseRows.js'
import { historyTables } from '../../src/store/state/historySql.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startChangingProxy } from '../support/upstream/changingProxy.js'
import { type Peer, reachHead, startTraffic } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'
import { STATE_LIES } from '../support/upstream/stateLies.js'

/* `cairn verify --against-upstream`: base rows of a database that followed geth with sparse state are proved again. */

const NEVER_CHANGED = `0x${'5e'.repeat(20)}`

/** Follows the peer with sparse state, reads an account that no block changes, and stops. */
async function followSparse(t: TestContext, peer: Peer): Promise<{ datadir: string; first: number }> {
  const traffic = await startTraffic(peer)
  await traffic.mine(5)
  await peer.mine([{ to: NEVER_CHANGED, value: '0x64', gas: '0x5208' }])
  const datadir = temporaryDirectory(t)
  const server = await startCairn(t, [
    ...['--datadir', datadir, '--open', '--network', 'dev', '--state', 'sparse', '--upstream', peer.wsUrl],
  ])
  await reachHead(server, peer)
  const first = Number(await resultOf<string>(peer.url, 'eth_blockNumber'))
  await traffic.mine(20)
  await reachHead(server, peer)
  assert.equal(await resultOf(server.url, 'eth_getBalance', [NEVER_CHANGED, 'latest']), '0x64')
  await server.stop()
  return { datadir, first }
}

test('base rows are proved at the head; a damaged one, which no state root covers, is named', {
  skip: SKIP_GETH,
}, async (t) => {
  const peer = await startGethPeer(t)
  const { datadir, first } = await followSparse(t, peer)
  const verify = (url: string, ...args: string[]) =>
    runCairn(['verify', '--datadir', datadir, '--against-upstream', url, ...args])
  const whole = await verify(peer.url)
  assert.equal(whole.code, 0, whole.stderr)
  const [, accounts, slots] = /^against the upstream: (\d+) accounts and (\d+) slots are right/m.exec(whole.stdout)!
  assert.ok(Number(accounts) > 10 && Number(slots) > 4, whole.stdout)
  // A sample is bounded, and the same with the same seed.
  const sampled = await verify(peer.url, '--sample', '5', '--sample-seed', '7')
  assert.match(sampled.stdout, /of a sample \(--sample-seed 7\) are right/)
  assert.equal((await verify(peer.url, '--sample', '5', '--sample-seed', '7')).stdout, sampled.stdout)
  // A node that sends a wrong proof is named, and the database is not blamed.
  const wrong = await startChangingProxy(t, peer.url)
  wrong.fault = STATE_LIES[0]
  const refused = await verify(wrong.url)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /block \d+: proof: account: /)
  // No root covers the base row of a key that no block changed.
  const setBalance = (stored: unknown) => {
    const changed = historyTables('account').map((table) =>
      db
        .prepare(`UPDATE ${table} SET balance = ? WHERE address_id = (SELECT id FROM addresses WHERE address = ?)`)
        .run(stored, Buffer.from(NEVER_CHANGED.slice(2), 'hex')),
    )
    assert.equal(
      changed.reduce((sum, { changes }) => sum + changes, 0),
      1,
    )
  }
  let db = openForWriting(datadir)
  const keys = [...readBaseKeys(db, first)].map(({ address }) => formatData(address))
  assert.ok(keys.includes(NEVER_CHANGED))
  setBalance(encodeUint(101n))
  db.close()
  await runCairnOk(['verify', '--datadir', datadir, '--state-history'])
  const damaged = await verify(peer.url)
  assert.equal(damaged.code, 1)
  assert.match(
    damaged.stderr,
    new RegExp(`account_history, account ${NEVER_CHANGED}: balance at block \\d+: expected 100, found 101`),
  )
  db = openForWriting(datadir)
  setBalance('e')
  db.close()
  const undecodable = await verify(peer.url)
  assert.equal(undecodable.code, 1)
  assert.match(undecodable.stderr, new RegExp(`account ${NEVER_CHANGED}: cannot be decoded: `))
})

test('what cannot be proved is refused with what would work', async (t) => {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, 'fixtures/chain'])
  const refused = async (pattern: RegExp, ...args: string[]) => {
    const { code, stderr } = await runCairn(['verify', '--datadir', datadir, ...args])
    assert.match(stderr, pattern)
    assert.equal(code, 2)
  }
  const url = 'http://127.0.0.1:1'
  await refused(/the database has --state execute; --state-history verifies/, '--against-upstream', url)
  await refused(/--sample is for --against-upstream/, '--sample', '3')
  await refused(/--sample-seed is for --sample/, '--against-upstream', url, '--sample-seed', '3')
})
