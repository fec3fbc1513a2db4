import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { RemoteTrieHasher } from '../../../src/replication/apply/catchUpTrie.js'
import { applyUnits } from '../../../src/replication/apply/replicaLoop.js'
import { readAhead, type VerifyElsewhere } from '../../../src/replication/apply/unitQueue.js'
import { verifyReplicated } from '../../../src/replication/apply/verifyReplicated.js'
import { openForReading } from '../../../src/store/open.js'
import { BRANCHES_GENESIS, growBranch, importInOneGo, openBranches } from '../../support/chains/branches.js'
import { encodeStored, openApplier, openHasher, positioned, unitOf } from '../../support/nats/replicated.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const BLOCKS = 60

test('a replica that turns out to be far behind lets another thread hash its blocks, also those that come in its transaction', async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: BLOCKS, random: seededRandom(1) })
  const writer = temporaryDirectory(t)
  await importInOneGo(writer, trunk)
  const source = openForReading(writer)
  const units = positioned(encodeStored(source, 1, BLOCKS).map((block) => unitOf([block])))
  source.close()

  const { db } = await openBranches(temporaryDirectory(t))
  t.after(() => db.close())
  const hasher = openHasher(t, db)
  const noted: number[] = []
  const counting: RemoteTrieHasher = {
    begin: (number) => hasher.begin(number),
    note: (number, state) => {
      noted.push(number)
      hasher.note(number, state)
    },
    get waiting() {
      return hasher.waiting
    },
    get size() {
      return hasher.size
    },
    progress: () => hasher.progress(),
    hash: () => hasher.hash(),
    stored: () => hasher.stored(),
  }
  const how = { trieInterval: 1024, hasher: counting }
  const { applier, chain } = await openApplier(db, { genesis: BRANCHES_GENESIS }, how)
  const ends = new AbortController()
  const { signal } = ends
  // Many blocks come while the transaction of the first ones is open.
  let release = () => {}
  const written = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* comeLate() {
    yield* units.slice(0, 2)
    await written
    yield* units.slice(2)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }
  const verify: VerifyElsewhere = async (block) => ({
    isRight: true,
    take: () => {
      release()
      return verifyReplicated(block, chain.spec)
    },
  })
  const queue = readAhead(comeLate(), { spec: chain.spec, verify, signal })
  const applying = applyUnits(chain, { applier, queue, signal })
  while (chain.trie!.block.number < BLOCKS) await delay(5)
  ends.abort()
  await applying
  console.log(noted[0])
  assert.ok(noted[0] <= BLOCKS / 2, `block ${noted[0]} is the first that the thread hashed`)
  assert.deepEqual(
    noted,
    noted.map((_, i) => noted[0] + i),
  )
  assert.equal(noted.at(-1), BLOCKS)
})
