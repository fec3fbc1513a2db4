import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { assemble } from '../../tools/fixture/assembler.js'
import { createChainBuilder } from '../../tools/fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../../tools/fixture/genesis.js'
import { startCairn } from '../support/cairn.js'
import { createForkGenesis } from '../support/chains/forkGenesis.js'
import { SPARSE_LIMITS } from '../support/compare/sparseAnswers.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilBlockNumber } from '../support/until.js'

/* A simulated block that clears a slot may leave a branch of the storage trie with one child, which moves up: its state
 * root needs that child, and no proof in the state after the block exists. */

const SLOTS = 60
const BLOCKS = 4
const STORE = `0x${'51'.repeat(20)}`
const CALLER = `0x${'ca'.repeat(20)}`

test('state roots of simulated blocks that clear slots, at every height', async (t) => {
  const folder = temporaryDirectory(t)
  const code = assemble('32 calldataload 0 calldataload sstore stop')
  const slots = Array.from({ length: SLOTS }, (_, i) => [word(i), word(i + 1)])
  const genesis = createForkGenesis('osaka', {
    ...SYSTEM_ACCOUNTS,
    [STORE]: { balance: '0x1', nonce: '0x1', code: formatData(code), storage: Object.fromEntries(slots) },
    [CALLER]: { balance: '0xd3c21bcecceda1000000' },
  })
  const db = openForWriting(temporaryDirectory(t))
  const builder = await createChainBuilder(db, genesis)
  for (let i = 0; i < BLOCKS; i++) await builder.add()
  const chain = builder.encode()
  db.close()
  const genesisFile = join(folder, 'genesis.json')
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(join(folder, 'chain.rlp'), chain)
  const complete = await startCairn(t, ['--fixture', folder, ...SPARSE_LIMITS])
  const sparse = await startCairn(t, [
    ...['--datadir', temporaryDirectory(t), '--open', '--genesis', genesisFile, '--state', 'sparse', '--from', '1'],
    ...['--upstream', complete.url, ...SPARSE_LIMITS],
  ])
  await untilBlockNumber(sparse, BLOCKS)
  const roots = new Set<string>()
  for (let slot = 0; slot < SLOTS; slot++) {
    const calls = [{ from: CALLER, to: STORE, input: `${word(slot)}${word(0).slice(2)}` }]
    const params = [{ blockStateCalls: [{ calls }] }, `0x${(1 + (slot % BLOCKS)).toString(16)}`]
    const own = await ask(sparse.url, 'eth_simulateV1', params)
    assert.deepEqual(own, { ...own, result: await resultOf(complete.url, 'eth_simulateV1', params) }, `slot ${slot}`)
    roots.add((own.result as { stateRoot: string }[])[0].stateRoot)
  }
  assert.equal(roots.size, SLOTS)
})

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
